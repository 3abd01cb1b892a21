package otlp

import "time"

// This file maps the gateway's own work on a turn to spans.

// gateway writes what the gateway did before the agent wrote: one span after the other, in the turn's
// span. What is not on record has no span.
func (m *maker) gateway() {
	w := m.t.Timing
	if w == nil {
		return
	}
	taken, first := m.t.Start, m.t.End
	if len(m.t.Prompts) > 0 {
		taken = m.t.Prompts[0].Time
	}
	if steps := m.t.Main().Steps; len(steps) > 0 {
		first = steps[0].First
	}
	for _, p := range []struct {
		name     string
		from, to time.Time
	}{
		{"read request", w.Received, w.Read},
		{"admit prompt", w.Read, taken},
		{"wait in queue", taken, m.t.Began},
		{"start agent", m.t.Began, w.Ready},
		{"wait for agent", w.Ready, first},
	} {
		if p.from.IsZero() || p.to.Before(p.from) {
			continue
		}
		var a attrSet
		a.text(openInferenceKind, "CHAIN")
		a.text(langfuseType, "span")
		m.span(Span{ID: m.id("gateway", p.name), Parent: m.rootID, Name: "gateway: " + p.name, Kind: KindInternal}, m.t.Seq, p.from, p.to, a)
	}
}

// start is when the turn began: with the request, if that is on record.
func (m *maker) start() time.Time {
	if w := m.t.Timing; w != nil && !w.Received.IsZero() && w.Received.Before(m.t.Start) {
		return w.Received
	}
	return m.t.Start
}
