package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// Match says how the calls of a session must be like those of a grader.
type Match string

// The ways to match. MatchAnyOrder is the default.
const (
	MatchExact    Match = "exact"     // these calls in this order, and no others
	MatchInOrder  Match = "in_order"  // these in this order; others may stand before, between and after
	MatchAnyOrder Match = "any_order" // these in any order, each listed one by a call of its own, among others
	MatchSubset   Match = "subset"    // each call is like one of these, and none of these has to be there
)

// tools judges the calls of tools of the agent and its sub-agents, in the order in which they began.
type tools struct {
	Match Match `yaml:"match"`
	// Not says that no call may be like one of Calls.
	Not   bool     `yaml:"not"`
	Calls []wanted `yaml:"calls"`
}

// wanted is what a call must be like. Empty fields are like all.
type wanted struct {
	Tool about `yaml:",inline"`

	// Args are values that the call's input must have, by their names. Objects in it may have more.
	Args   map[string]any   `yaml:"args"`
	Status trace.ToolStatus `yaml:"status"`
}

// about says which tools are meant. In names, * is any text.
type about struct {
	Kind    trace.ToolKind `yaml:"kind"`
	Name    string         `yaml:"name"`
	RawName string         `yaml:"raw_name"`
}

func (g *tools) fault() *fault {
	if len(g.Calls) == 0 {
		return &fault{"calls", "is missing: write at least one call"}
	}
	if g.Not && g.Match != "" {
		return &fault{"match", "stands beside not, which means that none of the calls is there: use one of them"}
	}
	for i, w := range g.Calls {
		path := fmt.Sprintf("calls[%d]", i)
		if w.Tool == (about{}) && len(w.Args) == 0 && w.Status == "" {
			return &fault{path, "says nothing: write kind, name, raw_name, args or status"}
		}
		args, err := json.Marshal(w.Args)
		if err != nil {
			return &fault{path + ".args", "has a value that JSON does not have"}
		}
		v, _ := decoded(args) // it is JSON
		g.Calls[i].Args, _ = v.(map[string]any)
	}
	return nil
}

// made is what is known of a call that an agent made.
type made struct {
	told   bool           // by the agent's own records
	input  map[string]any // nil if the input is no object
	broken bool           // the input did not become JSON, or is not on record
}

// madeBy says what is known of a call. A person may have changed the input with the permission.
func madeBy(t *reader.Turn, c *reader.Call) made {
	input := c.Input
	for _, q := range c.Requests {
		if q.Response != nil && q.Response.Allowed() && len(q.Response.UpdatedInput) > 0 {
			input = q.Response.UpdatedInput
		}
	}
	v, _ := decoded(input) // else it is no object
	object, _ := v.(map[string]any)
	return made{!imported(t), object, c.InputText != "" || len(input) == 0}
}

// decoded decodes JSON, whose numbers stay as they are written.
func decoded(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err //nolint:wrapcheck // no caller says it
}

func (g *tools) grade(_ context.Context, s *Session, _ Means) judgement {
	var calls []*reader.Call
	known := map[*reader.Call]made{}
	for _, t := range s.Turns {
		for _, c := range t.Calls {
			calls = append(calls, c)
			known[c] = madeBy(t, c)
		}
	}
	// What the trace does not tell of a call may be so, or not. A list that matches still does if
	// more calls are like those wanted, so all doubts at once, and none, are the two extremes.
	doubts := false
	judge := func(doubt bool) judgement {
		j := g.judge(calls, func(c *reader.Call, w wanted) bool {
			a := w.like(c, known[c])
			doubts = doubts || a == perhaps
			return a == yes || a == perhaps && doubt
		})
		if j.evidence == nil {
			j.evidence = s.ends()
		}
		return j
	}
	least := judge(false)
	if !doubts {
		return least
	}
	most := judge(true)
	if least.verdict != most.verdict {
		doubtful := most
		if g.Match == MatchSubset {
			doubtful = least
		}
		return unclear(doubtful.evidence, "the trace does not tell enough of some calls: their kind is other, their input is broken, or they were imported")
	}
	return least
}

// judge compares the calls with those that are wanted.
func (g *tools) judge(all []*reader.Call, is func(*reader.Call, wanted) bool) judgement {
	switch {
	case g.Not:
		with, _ := g.listed(all, is)
		return passIf(with == nil, with, "%d of %s may not be there", len(with), calls(len(all)))
	case g.Match == MatchSubset:
		with, without := g.listed(all, is)
		if without != nil {
			return passIf(false, without, "%d of %s may not be there", len(without), calls(len(all)))
		}
		return passIf(true, with, "every one of %s may be there", calls(len(all)))
	case g.Match == MatchExact:
		found := 0
		for found < min(len(all), len(g.Calls)) && is(all[found], g.Calls[found]) {
			found++
		}
		if found == len(g.Calls) && found == len(all) {
			return passIf(true, ids(all), "there are the listed calls, and no others")
		}
		return passIf(false, ids(all), "there are %s for the %d that are listed, and the first %d are as listed", calls(len(all)), len(g.Calls), found)
	case g.Match == MatchInOrder:
		var evidence []string
		for _, c := range all {
			if len(evidence) < len(g.Calls) && is(c, g.Calls[len(evidence)]) {
				evidence = append(evidence, c.Record)
			}
		}
		if len(evidence) < len(g.Calls) {
			return passIf(false, evidence, "calls[%d] is not there in its place, among %s", len(evidence), calls(len(all)))
		}
		return passIf(true, evidence, "the listed calls are there in this order")
	}
	found, missing := assign(all, g.Calls, is)
	if missing >= 0 {
		return passIf(false, ids(found), "calls[%d] has no call of its own, among %s", missing, calls(len(all)))
	}
	return passIf(true, ids(found), "the listed calls are there")
}

// listed divides the calls into those that are like a listed one, and the others.
func (g *tools) listed(all []*reader.Call, is func(*reader.Call, wanted) bool) (with, without []string) {
	for _, c := range all {
		if slices.ContainsFunc(g.Calls, func(w wanted) bool { return is(c, w) }) {
			with = append(with, c.Record)
		} else {
			without = append(without, c.Record)
		}
	}
	return with, without
}

func ids(calls []*reader.Call) (all []string) {
	for _, c := range calls {
		all = append(all, c.Record)
	}
	return all
}

// assign gives each wanted call a call of its own. If one has to stay without, missing is its
// place, else -1. A call that is free goes first; one that is held is handed on when its holder can have another one.
func assign(calls []*reader.Call, want []wanted, is func(*reader.Call, wanted) bool) (found []*reader.Call, missing int) {
	holder := make([]int, len(calls)) // 1 more than the place of the wanted call that has it
	var give func(w int, tried []bool) bool
	give = func(w int, tried []bool) bool {
		for _, held := range []bool{false, true} {
			for i, c := range calls {
				if tried[i] || (holder[i] > 0) != held || !is(c, want[w]) {
					continue
				}
				if tried[i] = true; !held || give(holder[i]-1, tried) {
					holder[i] = w + 1
					return true
				}
			}
		}
		return false
	}
	missing = -1
	for w := range want {
		if missing < 0 && !give(w, make([]bool, len(calls))) {
			missing = w
		}
	}
	for i, c := range calls {
		if holder[i] > 0 {
			found = append(found, c)
		}
	}
	return found, missing
}

// answer is yes, no, or that the trace does not tell.
type answer int

const (
	no answer = iota
	perhaps
	yes
)

// like says whether a call is one that is wanted.
func (w wanted) like(c *reader.Call, m made) answer {
	a := w.Tool.like(c)
	if w.Args != nil {
		a = min(a, w.args(m))
	}
	switch {
	case w.Status == "":
	case c.Result == nil:
		a = no
	case !m.told && (c.Result.Status == trace.ToolCompleted || c.Result.Status == trace.ToolCanceled):
		a = min(a, perhaps) // so counts what another program does not tell, or a call without a result
	case !slices.Contains(trace.ToolStatuses(), c.Result.Status):
		a = min(a, perhaps)
	case c.Result.Status != w.Status:
		a = no
	}
	return a
}

// like says whether a call is of such a tool. A tool of the kind other may do anything.
func (m about) like(c *reader.Call) answer {
	switch {
	case m.Name != "" && !glob(m.Name, c.Name), m.RawName != "" && !glob(m.RawName, c.RawName):
		return no
	case m.Kind == "" || m.Kind == c.ToolKind:
		return yes
	case c.ToolKind == trace.ToolOther:
		return perhaps
	}
	return no
}

// args says whether the input has the values.
func (w wanted) args(m made) answer {
	switch {
	case m.broken || !m.told && m.input == nil:
		return perhaps
	case m.input != nil && within(w.Args, m.input, true):
		return yes
	}
	return no
}

// within reports whether a value is the one that is wanted. Objects may have more, but not in lists.
func within(want, v any, more bool) bool {
	switch want := want.(type) {
	case map[string]any:
		have, is := v.(map[string]any)
		for name, one := range want {
			if value, there := have[name]; !there || !within(one, value, more) {
				return false
			}
		}
		return is && (more || len(have) == len(want))
	case []any:
		have, is := v.([]any)
		return is && slices.EqualFunc(want, have, func(a, b any) bool { return within(a, b, false) })
	case json.Number:
		have, is := v.(json.Number)
		return is && sameNumber(want.String(), have.String())
	}
	return want == v
}

// sameNumber compares whole numbers to the last digit, and others as floats, so that 1.0 is 1.
func sameNumber(a, b string) bool {
	i, whole := new(big.Int).SetString(a, 10)
	j, also := new(big.Int).SetString(b, 10)
	if whole && also {
		return i.Cmp(j) == 0
	}
	x, err := strconv.ParseFloat(a, 64)
	y, wrong := strconv.ParseFloat(b, 64)
	return err == nil && wrong == nil && x == y
}
