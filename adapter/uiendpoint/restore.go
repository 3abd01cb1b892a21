package uiendpoint

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// restore makes the Decoder know a turn of an earlier process: the Decoder hears once more
// what is on record, and writes nothing.
func (d *Decoder) restore(ctx context.Context, prompt remote.Call, left agent.Left) {
	d.turn(fieldsOf(prompt))
	nowhere := trace.NewBuilder(ctx, trace.Config{Append: func(context.Context, []trace.Event) error { return nil }})
	tr, asked, id := uistream.NewTranslator(native()), map[string]string{}, ""
	for _, r := range left.Records {
		for _, c := range tr.Translate(r) {
			writer{d, nowhere, true}.chunk(c)
		}
		switch p := r.Payload.(type) { //nolint:gochecksumtype // the chunks tell the others
		case trace.Data:
			if c, is := uistream.ReadBeyond(p); is {
				if start, is := c.(uistream.Start); is {
					id = start.MessageID
				}
			}
		case trace.PermissionRequest:
			asked[p.ToolCallID] = p.RequestID
		case trace.Question:
			asked[p.ToolCallID] = p.QuestionID
			if c := d.calls[p.ToolCallID]; c != nil {
				d.waits = append(d.waits, &wait{id: c.id, call: c})
			}
		case trace.PermissionResponse, trace.Answer:
			d.place.begins()
		}
	}
	_ = nowhere.Finish(trace.Stop{}) // it keeps nothing
	d.id = id
	for _, w := range d.waits {
		w.asked, w.request = true, asked[w.call.id]
		w.done = w.done || !slices.Contains(left.Waiting, w.request)
	}
}

// left takes up the turn that restore has made known.
func (d *Decoder) left(t agent.Turns) (effects []agent.Effect) {
	if t.Prompted(d.sent.prompted()) == nil {
		return nil
	}
	for _, w := range d.waits {
		switch {
		case w.done:
			continue
		case w.approval:
			effects = append(effects, d.permit(w))
		default:
			effects = append(effects, d.question(w))
		}
		d.phase = waiting
	}
	return effects
}
