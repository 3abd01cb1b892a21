package agentops_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// relay turns a runner's frames into browsers' frames, as the session agent does.
type relay struct {
	t      testing.TB
	out    []string
	turn   string
	prompt string
	parts  map[string][]string // by turn
	calls  map[string]object
}

// relayed returns the browsers' frames for a recording of a runner.
func relayed(t testing.TB, recording []string) []string {
	t.Helper()
	r := &relay{t: t, parts: map[string][]string{}, calls: map[string]object{}}
	for _, l := range recording {
		var line struct {
			Dir string
			Msg json.RawMessage
		}
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatal(err)
		}
		if line.Msg == nil {
			continue
		}
		r.take(line.Dir, string(line.Msg))
	}
	return r.out
}

func (r *relay) send(frame string) { r.out = append(r.out, toUs(frame)) }

func (r *relay) take(dir, frame string) {
	var f struct {
		Type, TurnID, MessageID, CallID, ToolName, Status, Content, Reason, Error string
		Delta, Data                                                               json.RawMessage
	}
	fields := object{}
	if json.Unmarshal([]byte(frame), &f) != nil || json.Unmarshal([]byte(frame), &fields) != nil {
		r.t.Fatalf("no frame: %s", frame)
	}
	if f.TurnID != "" {
		r.turn = f.TurnID
	}
	parts := r.parts[r.turn]
	switch f.Type {
	case "prompt":
		r.prompt = f.MessageID
		r.send(userFrame(f.MessageID, f.Content, ""))
	case "abort":
		r.out = append(r.out, fromUs(frame))
	case "message.create":
		r.send(startFrame(f.TurnID))
	case "message.part.text-delta":
		r.send(`{"type":"chunk","messageId":"` + f.TurnID + `","content":` + string(f.Delta) + `}`)
		var text string
		_ = json.Unmarshal(f.Delta, &text)
		last := len(parts) - 1
		if last < 0 || !strings.Contains(parts[last], `"type":"text"`) {
			r.parts[r.turn] = append(parts, textPart(text))
			return
		}
		var before struct{ Text string }
		_ = json.Unmarshal([]byte(parts[last]), &before)
		parts[last] = textPart(before.Text + text)
	case "message.part.tool-update":
		call, known := r.calls[f.TurnID+f.CallID]
		at := -1
		for i, p := range parts {
			if known && strings.Contains(p, `"callId":"`+f.CallID+`"`) {
				at = i
			}
		}
		if !known {
			call = object{}
			r.calls[f.TurnID+f.CallID] = call
		}
		maps.Copy(call, fields)
		call["type"] = "tool-call"
		data, _ := json.Marshal(call)
		if at < 0 {
			parts = append(parts, string(data))
		} else {
			parts[at] = string(data)
		}
		r.parts[r.turn] = parts
		r.send(wholeFrame(r.turn, parts...))
	case "message.finalize":
		if f.Error != "" {
			parts = append(parts, `{"type":"error","message":"`+f.Error+`"}`)
		}
		r.parts[r.turn] = append(parts, finishPart(f.Reason))
		r.send(wholeFrame(r.turn, r.parts[r.turn]...))
	case "complete":
		if f.MessageID == r.prompt {
			r.send(notBusy)
		}
	case "aborted":
		r.send(notBusy)
	case "screenshot":
		r.send(`{"type":"message","data":{"id":"shot","role":"system","content":"","parts":{"type":"screenshot","data":` + string(f.Data) + `}}}`)
	default:
		if dir == "r2d" {
			r.send(frame)
		}
	}
}
