package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// obedient is an agent that obeys a file of its workspace. Its process ends with each turn.
type obedient struct {
	scripted
	opened  chan string
	leaves  bool // it can leave the file out
	without bool
}

func (o obedient) SettingsFiles() []agent.SettingsFile {
	return []agent.SettingsFile{{Path: "tool.json", Harmless: []string{"model"}}}
}

func (o obedient) WithoutSettings() agent.Runtime {
	if !o.leaves {
		return nil
	}
	o.without = true
	return o
}

func (o obedient) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	o.opened <- map[bool]string{true: "without", false: "with"}[o.without]
	return o.scripted.Open(ctx, host, cfg)
}

// The gateway asks about settings files of the workspace before it opens an agent that obeys them. A refusal leaves them out, or
// ends the turn. "always" covers the same text only.
//
//evidence:for promise-settings
func TestSettingsOfTheWorkspaceAreAskedAbout(t *testing.T) {
	t.Parallel()
	const runs, other = `{"run":"a"}`, `{"run":"b"}`
	type step struct{ file, answer, opened string } // for each turn; no answer: nobody is asked
	allow := func(then permission.Verdict) []permission.Rule {
		return []permission.Rule{{Tool: session.SettingsTool, Then: then}}
	}
	for _, row := range []struct {
		name   string
		leaves bool
		rules  []permission.Rule
		steps  []step
	}{
		{"no file", true, nil, []step{{"", "", "with"}}},
		{"a harmless file", true, nil, []step{{`{"model":"m"}`, "", "with"}}},
		{"a person allows once", true, nil, []step{{runs, "once", "with"}, {runs, "reject", "without"}}},
		{"a person allows always", true, nil, []step{{runs, "always", "with"}, {runs, "", "with"}, {other, "reject", "without"}, {runs, "", "with"}}},
		{"a person rejects, and the agent can do without", true, nil, []step{{runs, "reject", "without"}}},
		{"a person rejects, and the agent cannot", false, nil, []step{{runs, "reject", ""}, {"", "", "with"}}},
		{"the file changes before the answer", true, nil, []step{{runs, "once,once", "with"}, {runs, "once,reject", "without"}}},
		{"a rule allows", false, allow(permission.Allow), []step{{runs, "", "with"}}},
		{"a rule denies", true, allow(permission.Deny), []step{{runs, "", "without"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir, opened := t.TempDir(), make(chan string, 1)
			b := newBench(t, func(o *session.Options) {
				o.Agents["demo"] = session.Agent{
					Runtime: obedient{opened: opened, leaves: row.leaves, scripted: scripted{prompt: func(context.Context, agent.Host, agent.Prompt, *trace.Builder) error {
						return errors.New("the process has ended")
					}}},
					Cwd: dir, Policy: permission.Policy{Rules: row.rules},
				}
			})
			defer b.close()
			for i, s := range row.steps {
				path := filepath.Join(dir, "tool.json")
				if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				if s.file != "" {
					if err := os.WriteFile(path, []byte(s.file), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				turn := b.say(fmt.Sprint("u", i), "hello")
				answers := strings.Split(s.answer, ",")
				for r, err := range b.Follow(t.Context(), "s", turn.ID, turn.After) {
					if err != nil {
						t.Fatal(err)
					}
					p, asks := r.Payload.(trace.PermissionRequest)
					if !asks || p.DecidedBy != "" || len(answers) == 0 {
						continue
					}
					if len(answers) > 1 {
						if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
							t.Fatal(err)
						}
					}
					if _, err := b.Permit(t.Context(), "s", p.RequestID, session.Sender{By: "ada"}, session.Choice{Option: answers[0]}); err != nil {
						t.Error(err)
					}
					answers = answers[1:]
				}
				records := b.wait(turn)
				if stop := stopOf(t, records); s.opened == "" && !strings.Contains(stop.Error, "tool.json") {
					t.Errorf("turn %d: the stop is %+v", i, stop)
				}
				is := ""
				select {
				case is = <-opened:
				default:
				}
				if is != s.opened {
					t.Errorf("turn %d: the agent was opened %q, want %q", i, is, s.opened)
				}
				asked := slices.ContainsFunc(records, func(r trace.Record) bool {
					p, is := r.Payload.(trace.PermissionRequest)
					return is && p.DecidedBy == ""
				})
				if asked != (s.answer != "") {
					t.Errorf("turn %d: a person is asked: %v", i, asked)
				}
				for _, r := range records {
					if call, is := r.Payload.(trace.ToolCall); is && !strings.Contains(string(call.Input), `"path":"tool.json"`) {
						t.Errorf("turn %d: the person is shown %s", i, call.Input)
					}
				}
			}
		})
	}
}

// A turn that is stopped while its person is asked opens no agent.
func TestAStopWhileSettingsAreAskedAbout(t *testing.T) {
	t.Parallel()
	dir, opened := t.TempDir(), make(chan string, 1)
	if err := os.WriteFile(filepath.Join(dir, "tool.json"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(o *session.Options) {
		o.Agents["demo"] = session.Agent{Runtime: obedient{opened: opened, leaves: true}, Cwd: dir}
	})
	defer b.close()
	turn := b.say("u", "hello")
	for r, err := range b.Follow(t.Context(), "s", turn.ID, turn.After) {
		if err != nil {
			t.Fatal(err)
		}
		if _, is := r.Payload.(trace.PermissionRequest); is {
			break
		}
	}
	if _, err := b.Stop(t.Context(), "s", session.StopRequest{By: "ada"}); err != nil {
		t.Fatal(err)
	}
	if stop := stopOf(t, b.wait(turn)); stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("the stop is %+v", stop)
	}
	if len(opened) != 0 {
		t.Error("the agent was opened")
	}
}
