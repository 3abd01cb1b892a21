package remote

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Permissions asks for permissions, all at once. It returns the effects that wait for the
// answers. The ids of the requests are the agent's own; a run asks each id once.
func (a *Asking) Permissions(b *trace.Builder, all ...trace.PermissionCheck) []agent.Effect {
	from := len(a.asked)
	all = slices.DeleteFunc(slices.Clone(all), func(p trace.PermissionCheck) bool {
		return !a.add(b, asked{Native: p.Request.RequestID, permits: true})
	})
	made := b.PermissionRequests(all...)
	return a.await(from, func(q *asked) {
		if q.id = made[0].ID; made[0].Decided {
			q.Permission = &made[0].Answer
		}
		made = made[1:]
	})
}

// Questions asks questions, all at once. It returns the effects that wait for the answers.
// The ids of the questions are the agent's own; a run asks each id once.
func (a *Asking) Questions(b *trace.Builder, all ...trace.Question) []agent.Effect {
	from := len(a.asked)
	all = slices.DeleteFunc(slices.Clone(all), func(q trace.Question) bool { return !a.add(b, asked{Native: q.QuestionID}) })
	ids := b.Questions(all...)
	return a.await(from, func(q *asked) { q.id, ids = ids[0], ids[1:] })
}

// Again says that another run of the turn follows, for which nobody is asked.
func (a *Asking) Again(b *trace.Builder) { a.b, a.phase = b, asking }

// add adds a request, and reports whether the request is to be put on record.
func (a *Asking) add(b *trace.Builder, q asked) bool {
	if slices.ContainsFunc(a.asked, q.same) {
		return false
	}
	before := a.earlier.find(b, q)
	q.id, q.Permission, q.Answer = before.id, before.Permission, before.Answer
	a.b, a.phase, a.asked = b, asking, append(a.asked, q)
	return q.id == ""
}

// await returns the effects that wait for the answers to what was asked from a place on. An
// answer that is there already comes as all others do.
func (a *Asking) await(from int, record func(q *asked)) (effects []agent.Effect) {
	for i := range a.asked[from:] {
		q := &a.asked[from+i]
		if q.id == "" {
			record(q)
		}
		native := q.Native
		switch {
		case q.id == "": // another gateway goes on with the turn, and asks
			q.Permission = nil
		case q.answered():
			effects = append(effects, agent.Send{Data: Note(*q)})
			q.Permission, q.Answer = nil, nil
		case q.permits:
			effects = append(effects, agent.Permit{Native: q.id, RequestID: q.id, Reply: func(r trace.PermissionResponse) json.RawMessage {
				return Note(asked{Native: native, Permission: &r})
			}})
		default:
			effects = append(effects, agent.Ask{Native: q.id, QuestionIDs: []string{q.id}, Reply: func(r []trace.Answer) json.RawMessage {
				return Note(asked{Native: native, Answer: &r[0]})
			}})
		}
	}
	return effects
}

// earlier is what an earlier process has asked since the newest run of a turn began.
type earlier struct {
	b   *trace.Builder
	all []asked // Native is empty
	// over says that a step began when all were answered.
	over bool
}

// Recall makes the requests of an earlier process known. A Decoder that asks the same again
// gets the answers that are on record, and waits for the others. Requests of an earlier run
// are forgotten, because the next run may ask under the same id. The record does not name
// runs: another run has begun if a step that follows the last answer begins with anything
// but a new request.
func (a *Asking) Recall(left agent.OpenTurn) {
	a.earlier = earlier{b: left.Builder}
	e := &a.earlier
	for _, r := range left.Records {
		switch p := r.Payload.(type) { //nolint:gochecksumtype // all others are the agent's work
		case trace.PermissionRequest:
			e.ask(asked{id: p.RequestID, permits: true})
		case trace.Question:
			e.ask(asked{id: p.QuestionID})
		case trace.PermissionResponse:
			e.answered(asked{id: p.RequestID, permits: true, Permission: &p})
		case trace.Answer:
			e.answered(asked{id: p.QuestionID, Answer: &p})
		case trace.Step:
			e.over = p.Phase == trace.PhaseStart && !slices.ContainsFunc(e.all, func(q asked) bool { return !q.answered() })
		case trace.Pause, trace.Reply:
		default:
			e.work()
		}
	}
}

// ask adds a request.
func (e *earlier) ask(r asked) {
	if slices.ContainsFunc(e.all, func(q asked) bool { return q.permits == r.permits && strings.HasPrefix(r.id, q.id+"~") }) {
		e.work() // a run asks each id once
	}
	e.over = false
	e.all = append(e.all, r)
}

// work is what the agent does besides asking.
func (e *earlier) work() {
	if e.over {
		e.all, e.over = nil, false
	}
}

// Recalls reports whether an earlier process has asked a question, or for a permission,
// under that id of the agent's.
func (a *Asking) Recalls(b *trace.Builder, native string) bool {
	return a.earlier.find(b, asked{Native: native}).id != "" || a.earlier.find(b, asked{Native: native, permits: true}).id != ""
}

func (e *earlier) answered(by asked) {
	for i, q := range e.all {
		if q.id == by.id && q.permits == by.permits {
			e.all[i] = by
		}
	}
}

// find finds what was asked under an id of the agent's. The gateway may have added something
// to the id.
func (e *earlier) find(b *trace.Builder, as asked) (found asked) {
	for _, q := range e.all {
		more, ok := strings.CutPrefix(q.id, as.Native)
		if b == e.b && ok && q.permits == as.permits && (more == "" || strings.ContainsAny(more[:1], "~-.")) && (found.id == "" || len(q.id) <= len(found.id)) {
			found = q
		}
	}
	return found
}
