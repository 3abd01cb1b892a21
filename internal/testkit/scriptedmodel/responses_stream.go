package scriptedmodel

import "maps"

type object = map[string]any

// A responsesPart is an item of an answer, whole and as the events that stream it.
type responsesPart struct {
	whole, start object
	events       []responsesEvent // between the item's start and its end
	text         bool             // a broken answer ends after its deltas
}

// A responsesEvent is one event without its type, item and number.
type responsesEvent struct {
	kind  string
	body  object
	delta bool // comes at the answer's pace
}

func (responses) items(a Answer) []responsesPart {
	var out []responsesPart
	if a.Reasoning != "" {
		part := func(text string) object { return object{"type": "summary_text", "text": text} }
		p := responsesPart{
			whole:  object{"id": "rs_" + a.ID, "type": "reasoning", "summary": []any{part(a.Reasoning)}},
			start:  object{"summary": []any{}},
			events: []responsesEvent{{kind: "reasoning_summary_part.added", body: object{"summary_index": 0, "part": part("")}}},
		}
		for _, d := range a.deltas(a.Reasoning) {
			p.events = append(p.events, responsesEvent{"reasoning_summary_text.delta", object{"summary_index": 0, "delta": d}, true})
		}
		p.events = append(p.events,
			responsesEvent{kind: "reasoning_summary_text.done", body: object{"summary_index": 0, "text": a.Reasoning}},
			responsesEvent{kind: "reasoning_summary_part.done", body: object{"summary_index": 0, "part": part(a.Reasoning)}})
		out = append(out, p)
	}
	if a.Text != "" {
		part := func(text string) object { return object{"type": "output_text", "text": text, "annotations": []any{}} }
		p := responsesPart{
			whole:  object{"id": "msg_" + a.ID, "type": "message", "role": "assistant", "status": "completed", "content": []any{part(a.Text)}},
			start:  object{"status": "in_progress", "content": []any{}},
			events: []responsesEvent{{kind: "content_part.added", body: object{"content_index": 0, "part": part("")}}},
			text:   true,
		}
		for _, d := range a.deltas(a.Text) {
			p.events = append(p.events, responsesEvent{"output_text.delta", object{"content_index": 0, "delta": d}, true})
		}
		p.events = append(p.events,
			responsesEvent{kind: "output_text.done", body: object{"content_index": 0, "text": a.Text}},
			responsesEvent{kind: "content_part.done", body: object{"content_index": 0, "part": part(a.Text)}})
		out = append(out, p)
	}
	for _, c := range a.Calls {
		id, kind, field, event := "fc_"+c.ID, "function_call", "arguments", "function_call_arguments"
		if c.Text != "" {
			id, kind, field, event = "ctc_"+c.ID, "custom_tool_call", "input", "custom_tool_call_input"
		}
		p := responsesPart{
			whole: object{"id": id, "type": kind, "status": "completed", "call_id": "call_" + c.ID, "name": c.Name, field: c.input()},
			start: object{"status": "in_progress", field: ""},
		}
		for _, d := range a.inputDeltas(c.input()) {
			p.events = append(p.events, responsesEvent{event + ".delta", object{"delta": d}, true})
		}
		p.events = append(p.events, responsesEvent{kind: event + ".done", body: object{field: c.input()}})
		out = append(out, p)
	}
	return out
}

func (w responses) stream(s *stage, a Answer) {
	s.open()
	number := 0
	send := func(kind string, body object) bool {
		body["type"], body["sequence_number"] = "response."+kind, number
		number++
		return s.event("response."+kind, body)
	}
	if !send("created", object{"response": w.response(s, a, "in_progress", nil)}) ||
		!send("in_progress", object{"response": w.response(s, a, "in_progress", nil)}) {
		return
	}
	var output []any
	for i, item := range w.items(a) {
		start := maps.Clone(item.whole)
		maps.Copy(start, item.start)
		if !send("output_item.added", object{"output_index": i, "item": start}) {
			return
		}
		for j, e := range item.events {
			if a.Break != BreakNone && item.text && j > 0 && !e.delta {
				w.fail(s, a, output, send)
				return
			}
			e.body["item_id"], e.body["output_index"] = item.whole["id"], i
			if !send(e.kind, e.body) || e.delta && !s.wait() {
				return
			}
		}
		if !send("output_item.done", object{"output_index": i, "item": item.whole}) {
			return
		}
		output = append(output, item.whole)
	}
	send("completed", object{"response": w.response(s, a, "completed", output)})
}

func (w responses) fail(s *stage, a Answer, output []any, send func(string, object) bool) {
	if a.Break == BreakCut {
		s.cut()
	}
	failed := w.response(s, a, "failed", output)
	failed["error"] = object{"code": "server_error", "message": "scripted failure in mid-stream"}
	send("failed", object{"response": failed})
}
