package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// growing is a call that is being written. The call has an id once it has a name.
type growing struct {
	serverID, index string
	place           int
	state           callState
	toolloop.Call
}

// piece is a piece of a call in Chat Completions.
type piece struct {
	id, index      string // "" if the server sends none
	place          int    // in the list of the chunk
	name, input    string
	call, function map[string]raw
}

// take adds a piece to its call, or begins a call.
func (a *answer) take(p piece) {
	g := a.callOf(p)
	if g == nil || g.isOther(p) {
		if g = a.newCall(); g == nil {
			return
		}
	} else if p.id != "" && p.id == g.serverID && p.input == string(g.Input) && g.complete() {
		p.input = "" // some servers repeat the whole call at its end
	}
	g.serverID, g.index, g.place = cmp.Or(g.serverID, p.id), cmp.Or(g.index, p.index), p.place
	learn(&g.state.Call, p.call)
	learn(&g.state.Function, p.function)
	a.grow(g, p.name, p.input)
}

// callOf finds the call of a piece: by the index, else by the id, else by the place in the
// list, because servers leave out some of them.
func (a *answer) callOf(p piece) *growing {
	for _, is := range []func(*growing) bool{
		func(g *growing) bool { return p.index != "" && g.index == p.index },
		func(g *growing) bool { return p.id != "" && g.serverID == p.id && (p.index == "" || g.index == "") },
		func(g *growing) bool {
			return g.place == p.place && (p.index == "" || g.index == "") && (p.id == "" || g.serverID == "")
		},
		func(*growing) bool { return p.index == "" && p.id == "" && p.name == "" },
	} {
		for _, g := range slices.Backward(a.calls) {
			if is(g) {
				return g
			}
		}
	}
	return nil
}

// isOther reports whether a piece begins another call. Some servers give each call the index
// 0, or one id.
func (g *growing) isOther(p piece) bool {
	switch {
	case p.id != "" && g.serverID != "" && p.id != g.serverID:
		return true
	case p.name == "" || g.Name == "":
		return false
	case p.id != "" && p.id == g.serverID:
		return g.complete() && p.input != "" && p.input != string(g.Input)
	default:
		return p.name != g.Name || g.complete()
	}
}

func (g *growing) complete() bool { return json.Valid(bytes.TrimSpace(g.Input)) }

// newCall returns nil if the answer has too many calls.
func (a *answer) newCall() *growing {
	if len(a.calls) == maxCalls {
		a.bound = tooMuchError{fmt.Sprintf("more than %d calls", maxCalls)}
		return nil
	}
	g := &growing{}
	a.calls = append(a.calls, g)
	return g
}

// grow adds to the name and to the input of a call.
func (a *answer) grow(g *growing, name, input string) {
	if !a.takes(len(name) + len(input)) {
		return
	}
	g.Name = cmp.Or(g.Name, name)
	g.Input = append(g.Input, input...)
	if g.Name == "" {
		return
	}
	if g.ID == "" {
		g.ID, input = a.id(g), string(g.Input)
		a.endPart("")
		a.spoken = true
		a.to.ToolCallStart(trace.ToolCallStart{ToolCallID: g.ID, RawName: g.Name})
	}
	if input != "" {
		a.to.ToolCallDelta(g.ID, input)
	}
}

// whole gives the whole input of a call.
func (a *answer) whole(g *growing, name, input string) {
	if !g.complete() && json.Valid([]byte(input)) && rest(string(g.Input), input) == "" && len(g.Input) > 0 {
		g.Input = raw(input) // what grew is broken; the loop puts the whole on record
	}
	a.grow(g, name, rest(string(g.Input), input))
}

// id is the server's id of a call, if no other call has it.
func (a *answer) id(g *growing) string {
	taken := slices.ContainsFunc(a.calls, func(other *growing) bool { return other.ID == g.serverID && other != g })
	if g.serverID == "" || taken {
		return fmt.Sprintf("call_%s_%d_%d", a.to.Turn(), a.step, len(a.calls))
	}
	return g.serverID
}
