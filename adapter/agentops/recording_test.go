package agentops_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/agentops/runner"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// recorded returns the lines of each recording, by name.
func recorded(t testing.TB) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for name, data := range replaytest.Recordings(t, "../../test/recordings/agentops") {
		all[name] = strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	return all
}

// expectation is the summary of a turn that the recording itself holds.
type expectation struct {
	TurnID    string            `json:"turnId"`
	Text      []string          `json:"text"`
	Tools     map[string]string `json:"tools"`
	Approvals map[string]string `json:"approvals"`
	Questions map[string]string `json:"questions"`
	Outcome   string            `json:"outcome"`
	ErrorText string            `json:"errorText"`
}

func expectations(t testing.TB, recording []string) (all []expectation) {
	for _, l := range recording {
		var in struct {
			Expect *expectation `json:"expect"`
		}
		if err := json.Unmarshal([]byte(l), &in); err != nil {
			t.Fatal(err)
		}
		if in.Expect != nil {
			all = append(all, *in.Expect)
		}
	}
	return all
}

// expectationOf returns the summary of a turn.
func expectationOf(records []trace.Record) expectation {
	e := expectation{Tools: map[string]string{}, Approvals: map[string]string{}, Questions: map[string]string{}}
	for _, r := range records {
		switch p := r.Payload.(type) {
		case trace.Step:
			if e.TurnID == "" {
				e.TurnID = p.NativeID
			}
		case trace.Message:
			e.Text = append(e.Text, p.Text)
		case trace.ToolResult:
			e.Tools[p.ToolCallID] = map[trace.ToolStatus]string{
				trace.ToolCompleted: "output-available", trace.ToolFailed: "output-error", trace.ToolCanceled: "output-error", trace.ToolDenied: "output-denied",
			}[p.Status]
		case trace.PermissionResponse:
			e.Approvals[p.RequestID] = map[bool]string{true: "approved", false: "denied"}[p.Allowed()]
		case trace.Answer:
			e.Questions[p.QuestionID] = strings.Join(p.Values, ", ")
		case trace.Stop:
			e.Outcome = map[trace.Outcome]string{trace.OutcomeCompleted: "stop", trace.OutcomeFailed: "error", trace.OutcomeCanceled: "abort"}[p.Outcome]
			if p.Outcome == trace.OutcomeFailed {
				e.ErrorText = p.Error
			}
		}
	}
	return e
}

func (e expectation) normal() expectation {
	if len(e.Text) == 0 {
		e.Text = nil
	}
	for _, m := range []*map[string]string{&e.Tools, &e.Approvals, &e.Questions} {
		if *m == nil {
			*m = map[string]string{}
		}
	}
	return e
}

func TestRecordingsAmountToWhatTheyExpect(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		want := expectations(t, recording)
		p := playBack(t, recording)
		if p.Skipped > 0 {
			t.Errorf("%s: %d frames were not understood", name, p.Skipped)
		}
		if len(want) == 0 || len(want) != len(p.Turns) {
			t.Errorf("%s has %d turns, want %d", name, len(p.Turns), len(want))
			continue
		}
		for i, records := range p.Turns {
			if d := cmp.Diff(want[i].normal(), expectationOf(records).normal()); d != "" {
				t.Errorf("%s, turn %d (-want +got):\n%s", name, i+1, d)
			}
		}
	}
}

// A browser's frames and a runner's frames give the same turns, each read by its own adapter. The
// test leaves out facts that only one side gets.
func TestE04_H30_EachDialectAlone(t *testing.T) {
	t.Parallel()
	only := func(recording []string, dirs ...string) (kept []string) {
		for _, l := range recording {
			if slices.ContainsFunc(dirs, func(d string) bool { return strings.Contains(l, `"dir":"`+d+`"`) }) {
				kept = append(kept, l)
			}
		}
		return kept
	}
	for name, recording := range recorded(t) {
		want := expectations(t, recording)
		for dialect, half := range map[string][]string{"browser": only(recording, "s2c", "c2s", "http"), "runner": only(recording, "r2d", "d2r")} {
			if len(half) == 0 {
				continue
			}
			p := replaytest.Played{}
			if dialect == "runner" {
				p = replaytest.Play(t, runner.NewDecoder(toolkind.OpenCode()), []byte(strings.Join(half, "\n")))
			} else {
				p = playBack(t, half)
			}
			if len(p.Turns) != len(want) {
				t.Errorf("%s as a %s has %d turns, want %d", name, dialect, len(p.Turns), len(want))
				continue
			}
			for i, records := range p.Turns {
				want, got := want[i].normal(), expectationOf(records).normal()
				if dialect == "runner" { // only browsers get approvals and the end of the session
					want.Approvals, got.Approvals = nil, nil
					if want.Outcome == "abort" && len(got.Text) == 1 && len(want.Text) == 1 { // it goes on for a moment
						got.Text[0] = got.Text[0][:min(len(got.Text[0]), len(want.Text[0]))]
					}
					if strings.HasPrefix(want.ErrorText, "The session has ended") {
						want.Outcome, want.ErrorText = "abort", ""
					}
					for id, state := range got.Tools {
						if state == "output-error" && want.Tools[id] == "output-denied" {
							got.Tools[id] = "output-denied"
						}
					}
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("%s as a %s, turn %d (-want +got):\n%s", name, dialect, i+1, d)
				}
			}
		}
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := playBack(t, recording)
			replaytest.Golden(t, filepath.Join("testdata", "golden", name+".jsonl"), replaytest.Lines(t, p.Records))
			replaytest.Golden(t, filepath.Join("testdata", "golden", name+".sse"), streams(p, uistream.Options{}))
			replaytest.Golden(t, filepath.Join("testdata", "golden", name+".rfc.sse"), streams(p, uistream.Options{RFC: true}))
		})
	}
}

func TestAStepIsOneCallOfTheModel(t *testing.T) {
	t.Parallel()
	for name, recording := range recorded(t) {
		replaytest.StepsAreModelCalls(t, name, playBack(t, recording).Turns)
	}
}
