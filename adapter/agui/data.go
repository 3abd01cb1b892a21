package agui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/tributary-dev/tributary/trace"
)

// stateName is the name of the state's data, and its id.
const stateName = "state"

// largest bounds a state and an activity. One beyond small is on record once for each run,
// and not after each change, so that the record does not grow with the square of the changes.
const (
	largest = 16 << 20
	small   = 64 << 10
)

// sub is a sub-agent.
type sub struct {
	b      *trace.Builder
	parent *trace.Builder
	called bool // by a call, whose result ends the sub-agent
}

// view is where a sub-agent writes; "" is the agent itself.
func (t *turn) view(id string) *trace.Builder {
	if id == "" {
		return t.b
	}
	if _, known := t.subs[id]; !known {
		t.subs[id] = sub{b: t.b.Sub(id, ""), parent: t.b}
	}
	return t.subs[id].b
}

func (d *Decoder) subStarted(t *turn, e event) error {
	if _, known := t.subs[e.Sub]; known || e.Sub == "" {
		return nil // suspended, it goes on
	}
	s := sub{parent: t.view(e.ParentSub), called: t.calls[e.ParentCall] != nil}
	if s.called {
		s.b = s.parent.Under(e.ParentCall)
	} else {
		s.b = s.parent.Sub(e.Sub, e.Name)
	}
	t.subs[e.Sub] = s
	return nil
}

// subEnded ends a sub-agent, unless the sub-agent waits for an answer.
func (d *Decoder) subEnded(t *turn, e event) error {
	b := t.view(e.Sub)
	status := trace.SubagentCompleted
	if e.Type == "SUBAGENT_ERROR" {
		status = trace.SubagentFailed
		b.Emit(trace.Error{Code: plain(e.Code), Message: cmp.Or(plain(e.Message), plain(e.Code), "A sub-agent failed.")})
	}
	if s := t.subs[e.Sub]; !s.called && s.b != nil && e.outcome().Type != "suspended" {
		s.parent.SubEnd(e.Sub, status)
	}
	return nil
}

// step is a step of the agent's own: steps may overlap, so they are data.
func (d *Decoder) step(t *turn, e event) error {
	status := "started"
	if e.Type == "STEP_FINISHED" {
		status = "finished"
	}
	t.view(e.Sub).Emit(trace.Data{Name: "step", ID: "step-" + e.Step, Value: encode(map[string]string{"stepName": e.Step, "status": status})})
	return nil
}

// reserved are names of data that mean something else to clients.
var reserved = []string{memoName, stateName, "step", "result", "subagent", "participant", "usage", "plan", "modes", "models", "commands", "title"} //nolint:gochecknoglobals // never written

func (d *Decoder) custom(t *turn, e event) error {
	if e.Name == "on_interrupt" { // of LangGraph's endpoints, unless they are told to say it as all others do
		t.legacy = append(t.legacy, e.Value)
		return nil
	}
	name := cmp.Or(e.Name, "custom")
	if slices.Contains(reserved, name) {
		name = "custom-" + name
	}
	value := e.Value
	if isNull(value) {
		value = raw("null")
	}
	t.view(e.Sub).Emit(trace.Data{Name: name, Value: value})
	return nil
}

// raw is an event of the framework below, which the other events have told already.
func (d *Decoder) raw(t *turn, e event) error {
	t.view(e.Sub).Emit(trace.Data{Name: "raw", Domain: true, Transient: true, Value: encode(map[string]any{"source": e.Source, "event": e.Event})})
	return nil
}

// stateOf is the key of a state: of the agent, or of a sub-agent.
func stateOf(e event) string {
	if e.Sub == "" {
		return stateName
	}
	return stateName + "-" + e.Sub
}

func (d *Decoder) stateSnapshot(t *turn, e event) error { return t.set(stateOf(e), e.Snapshot) }

func (d *Decoder) stateDelta(t *turn, e event) error { return t.patch(stateOf(e), e.Delta) }

// activity is the key of an activity: the name of its data, and its id.
func activity(e event) string { return e.ActivityType + "\x00" + e.MessageID }

func (d *Decoder) activitySnapshot(t *turn, e event) error {
	if _, known := t.values[activity(e)]; known && e.Replace != nil && !*e.Replace {
		return nil
	}
	return t.set(activity(e), e.Content)
}

func (d *Decoder) activityDelta(t *turn, e event) error { return t.patch(activity(e), e.Patch) }

func (t *turn) set(key string, value raw) error {
	if len(value) > largest {
		return fmt.Errorf("agui: a state of %d bytes was skipped", len(value))
	}
	if len(value) == 0 {
		value = raw("null")
	}
	t.values[key] = value
	t.unsent[key] = true
	if len(value) <= small {
		t.show(key)
	}
	return nil
}

// patch changes a value by a JSON patch, wholly or not at all.
func (t *turn) patch(key string, delta raw) error {
	patch, err := jsonpatch.DecodePatch(delta)
	if err != nil {
		return fmt.Errorf("agui: a patch of another form was skipped: %w", err)
	}
	value := t.values[key]
	if isNull(value) {
		value = raw("{}")
	}
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices, options.AccumulatedCopySizeLimit = false, largest
	after, err := patch.ApplyWithOptions(value, options)
	if err == nil && !json.Valid(after) {
		err = errors.New("its result is no JSON")
	}
	if err != nil {
		return fmt.Errorf("agui: a patch that does not fit was skipped: %w", err)
	}
	return t.set(key, after)
}

// show puts a value on record as it now is.
func (t *turn) show(key string) {
	delete(t.unsent, key)
	p := trace.Data{Name: stateName, ID: key, Value: t.values[key]}
	if kind, id, is := strings.Cut(key, "\x00"); is {
		p.Name, p.ID = "activity-"+cmp.Or(kind, "event"), id
	}
	t.b.Emit(p)
}
