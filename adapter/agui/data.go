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

// step is a step of the agent's own: steps may overlap, so they are data.
func (d *Decoder) step(t *turn, e event) {
	status := strings.ToLower(strings.TrimPrefix(e.Type, "STEP_"))
	t.view(e.SubagentRunID).Emit(trace.Data{Name: "step", ID: "step-" + e.StepName, Value: encode(map[string]string{"stepName": e.StepName, "status": status})})
}

func (d *Decoder) custom(t *turn, e event) {
	if e.Name == "on_interrupt" { // of LangGraph's endpoints, unless they are told to say it as all others do
		t.legacy = append(t.legacy, e.Value)
		return
	}
	var u tokenCounts
	if e.Name == "usage" && read(e.Value, &u) && u.Input+u.Output > 0 {
		t.tokens = []usage{{InputTokens: u.Input, OutputTokens: u.Output, ReasoningTokens: u.Reasoning, CachedInputTokens: u.CacheRead, CacheWriteInputTokens: u.CacheWrite}}
		t.b.Touch()
		return
	}
	t.view(e.SubagentRunID).Emit(trace.Data{Name: cmp.Or(e.Name, "custom"), Value: first(e.Value, raw("null"))})
}

// tokenCounts is the usage of a run so far, as Microsoft's framework tells it.
type tokenCounts struct {
	Input      int64 `json:"input_token_count"`
	Output     int64 `json:"output_token_count"`
	Reasoning  int64 `json:"reasoning_output_token_count"`
	CacheRead  int64 `json:"cache_read_input_token_count"`
	CacheWrite int64 `json:"cache_creation_input_token_count"`
}

// raw is an event of the framework below, which the other events have told already.
func (d *Decoder) raw(t *turn, e event) {
	t.view(e.SubagentRunID).Emit(trace.Data{Name: "raw", Domain: true, Transient: true, Value: encode(map[string]any{"source": e.Source, "event": e.Event})})
}

// stateName is the name of the state's data, and its id.
const stateName = "state"

// largest bounds a state and an activity. One beyond small is on record once for each run,
// and not after each change, so that the record does not grow with the square of the changes.
const (
	largest = 16 << 20
	small   = 64 << 10
	// mostPatched bounds the sizes of the values that the patches of a turn change, together: each
	// patch reads its whole value.
	mostPatched = 8 << 30
)

// place is where a value stands that patches change: the name of its data, and its id.
type place struct{ name, id string }

// state is the place of the agent's state.
func state() place { return place{stateName, stateName} }

func (e event) place() place {
	switch {
	case strings.HasPrefix(e.Type, "ACTIVITY_"):
		return place{"activity-" + cmp.Or(e.ActivityType, "event"), e.MessageID}
	case e.SubagentRunID != "":
		return place{stateName, stateName + "-" + e.SubagentRunID}
	}
	return state()
}

func (d *Decoder) snapshot(t *turn, e event) {
	if _, known := t.values[e.place()]; !known || e.Replace == nil || *e.Replace {
		d.problem = t.set(e.place(), first(e.Snapshot, e.Content, raw("null")))
	}
}

// patch changes a value by a JSON patch, wholly or not at all.
func (d *Decoder) patch(t *turn, e event) {
	patch, err := jsonpatch.DecodePatch(first(e.Delta, e.Patch))
	if err != nil {
		d.problem = fmt.Errorf("agui: a patch of another form was skipped: %w", err)
		return
	}
	value := t.values[e.place()]
	if isNull(value) {
		value = raw("{}")
	}
	if t.patched += int64(len(value)); t.patched > mostPatched {
		d.problem = errors.New("agui: a patch was skipped, because the patches of this turn have changed 8 GB")
		return
	}
	options := jsonpatch.NewApplyOptions()
	options.SupportNegativeIndices, options.AccumulatedCopySizeLimit = false, largest
	after, err := patch.ApplyWithOptions(value, options)
	if err == nil && !json.Valid(after) {
		err = errors.New("its result is no JSON")
	}
	if err != nil {
		d.problem = fmt.Errorf("agui: a patch that does not fit was skipped: %w", err)
		return
	}
	d.problem = t.set(e.place(), after)
}

func (t *turn) set(at place, value raw) error {
	if len(value) > largest {
		return fmt.Errorf("agui: a state of %d bytes was skipped", len(value))
	}
	t.b.Hold(len(value) - len(t.values[at]))
	t.values[at] = value
	if t.unsent = slices.DeleteFunc(t.unsent, func(o place) bool { return o == at }); len(value) > small {
		t.unsent = append(t.unsent, at)
		return nil
	}
	t.show(at)
	return nil
}

// show puts values on record as they now are.
func (t *turn) show(all ...place) {
	for _, at := range all {
		t.b.Emit(trace.Data{Name: at.name, ID: at.id, Value: t.values[at]})
	}
}
