package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Asker is the half of a Decoder that an Asking drives.
type Asker interface {
	// Request takes a request to the server, or a note of the adapter's own.
	Request(c Call, t agent.Turns) ([]agent.Effect, error)
	// Hear takes what the server says.
	Hear(m agent.Message, t agent.Turns) ([]agent.Effect, error)
	// Next is called once a run is over and all that the run has asked is answered. Next
	// takes the answers, and encodes the request of the turn's next run. Nil says that the
	// Decoder has ended the turn instead.
	Next(b *trace.Builder, r Replies) *Call
}

// Replies are the answers of people, by the ids under which the agent has asked.
type Replies struct {
	Permissions map[string]trace.PermissionResponse
	Answers     map[string]trace.Answer
}

// Asking is what the newest run of a turn asks people. A Decoder embeds an Asking, and its
// Decode calls that of the Asking. The Asking waits for all answers, then begins the next run
// of the turn. The zero value is ready.
type Asking struct {
	phase   phase
	b       *trace.Builder // of the turn
	asked   []asked
	running bool   // a stream of the turn is open
	runs    int    // that have begun
	by      string // the last person who answered
	earlier earlier
}

// phase is what becomes of the requests of a run.
type phase uint8

const (
	silent phase = iota // the run has asked nothing
	asking              // an answer is missing, or the run is not over
	going               // the next run is about to begin
)

// asked is a permission request, or a question. An answer on its way to the Decoder has the
// same form.
type asked struct {
	// Native is the agent's own id.
	Native     string                    `json:"asked"`
	Permission *trace.PermissionResponse `json:"permission,omitempty"`
	Answer     *trace.Answer             `json:"answer,omitempty"`

	permits bool
	id      string // on record
}

func (a *Asking) asking() *Asking { return a }

// Waits reports whether the newest run has asked something, and no other has begun.
func (a *Asking) Waits() bool { return a.phase != silent && !a.b.Over() }

// Continues reports whether the request that the Decoder gets goes on with the turn.
func (a *Asking) Continues() bool { return a.phase == going && !a.b.Over() }

// paused reports whether the turn waits for people, and for nothing else.
func (a *Asking) paused() bool { return a.Waits() && a.phase == asking && !a.running }

// Decode implements agent.Decoder for the Decoder that embeds the Asking.
func (a *Asking) Decode(m agent.Message, t agent.Turns, d Asker) (effects []agent.Effect, err error) {
	switch m.Dir {
	case agent.In:
		var c Call
		if c, err = ParseCall(m.Data); err != nil {
			return nil, fmt.Errorf("a request of another form was skipped: %w", err)
		}
		effects, err = a.request(c, t, d)
	case agent.Out:
		var end End
		switch m.Channel {
		case Opened:
			a.running = true
		case Ended:
			_ = json.Unmarshal(m.Data, &end)         // written by this package
			a.running = a.running && end.Error != "" // a stream that broke off goes on, or the turn is lost
		}
		effects, err = d.Hear(m, t)
	case agent.Err:
	}
	return append(effects, a.next(d)...), err
}

// request takes a request, or an answer on its way to the Decoder.
func (a *Asking) request(c Call, t agent.Turns, d Asker) ([]agent.Effect, error) {
	var reply asked
	switch {
	case c.isNote() && json.Unmarshal(c.Body, &reply) == nil && reply.Native != "":
		a.take(reply)
		return nil, nil
	case !c.Stream:
		return d.Request(c, t)
	case c.Next && !a.Continues():
		return nil, errOver
	}
	a.running = false // a recording may lack the end of the run
	a.next(d)
	effects, err := d.Request(c, t)
	a.runs++
	a.phase, a.asked, a.running, a.by = silent, nil, true, ""
	return effects, err
}

// errOver says that a run is not begun: its turn was ended after the last answer came.
var errOver = errors.New("the turn is over, so its next run does not begin")

// take puts an answer on record. In a live session the gateway has done so.
func (a *Asking) take(r asked) {
	r.permits = r.Permission != nil
	i := slices.IndexFunc(a.asked, func(q asked) bool { return q.same(r) && !q.answered() })
	if i < 0 || a.b.Over() {
		return
	}
	q := &a.asked[i]
	switch {
	case r.Permission != nil:
		r.Permission.RequestID = q.id
		q.Permission, a.by = r.Permission, cmp.Or(r.Permission.By, a.by)
		a.b.PermissionResponse(*r.Permission)
	case r.Answer != nil:
		r.Answer.QuestionID = q.id
		q.Answer, a.by = r.Answer, cmp.Or(r.Answer.By, a.by)
		a.b.Answer(*r.Answer)
	}
}

func (q asked) same(as asked) bool { return q.Native == as.Native && q.permits == as.permits }

func (q asked) answered() bool { return q.Permission != nil || q.Answer != nil }

// next begins the next run if the newest one is over and everything is answered.
func (a *Asking) next(d Asker) []agent.Effect {
	if !a.paused() || slices.ContainsFunc(a.asked, func(q asked) bool { return !q.answered() }) {
		return nil
	}
	a.phase = going
	all := Replies{map[string]trace.PermissionResponse{}, map[string]trace.Answer{}}
	for _, q := range a.asked {
		if q.permits {
			all.Permissions[q.Native] = *q.Permission
		} else {
			all.Answers[q.Native] = *q.Answer
		}
	}
	call := d.Next(a.b, all)
	if call == nil {
		return nil
	}
	call.By, call.Next = cmp.Or(call.By, a.by), true
	return []agent.Effect{agent.Send{Data: call.JSON()}}
}
