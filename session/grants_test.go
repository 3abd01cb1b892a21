package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// calls is an agent whose prompt is a tool and its input: it asks whether the call
// may run. Three answers are possible.
func calls(waiting chan<- string, ended *[]trace.PermissionResponse) scripted {
	return scripted{prompt: func(ctx context.Context, host agent.Host, p agent.Prompt, b *trace.Builder) error {
		name, input, _ := strings.Cut(p.Text(), " ")
		tool := toolkind.OpenAI().Classify(name, json.RawMessage(input))
		call := trace.ToolCall{
			ToolCallID: "c", RawName: name, Name: name, ToolKind: tool.Kind, Title: tool.Title, Locations: tool.Locations, Input: json.RawMessage(input),
		}
		b.ToolCall(call)
		options := []trace.PermissionOption{
			{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce},
			{ID: "always", Name: "Always", OptionKind: trace.AllowAlways},
			{ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
			{ID: "never", Name: "Never", OptionKind: trace.RejectAlways},
		}
		if strings.Contains(input, "no once") {
			options = options[1:]
		}
		id, answer, decided := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: options}, call)
		var err error
		if !decided {
			waiting <- id
			answer, err = host.Permit(ctx, id)
		}
		*ended = append(*ended, answer)
		return err
	}}
}

// An agent that offers no "once" keeps an "always" itself. So neither a policy nor a plain yes
// chooses that, and where a person does, the record names it. There is no grant that somebody
// could revoke in vain.
func TestAnAlwaysThatTheAgentKeepsIsNamed(t *testing.T) {
	t.Parallel()
	for option, kept := range map[string]bool{"always": true, "no": false} {
		synctest.Test(t, func(t *testing.T) {
			waiting := make(chan string, 1)
			var ended []trace.PermissionResponse
			b := newBench(t, func(o *session.Options) {
				o.Agents["demo"] = session.Agent{Runtime: calls(waiting, &ended), Cwd: t.TempDir(), Tools: toolkind.OpenAI(), Policy: permission.Policy{Rules: []permission.Rule{{Then: permission.Allow}}}}
			})
			defer b.close()
			b.say("u1", `bash {"command":"make", "no once":1}`)
			request := <-waiting // although the policy allows the call
			yes := true
			if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Approved: &yes}); err == nil || !strings.Contains(err.Error(), "no option that allows once") {
				t.Errorf("a plain yes: %v", err)
			}
			if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Option: option}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if grants, err := b.Grants(t.Context(), "s"); err != nil || len(grants) != 0 {
				t.Errorf("%s: the grants are %+v, %v", option, grants, err)
			}
			var told []string
			for r, err := range b.log.Durable(t.Context(), "s", 0, 0) {
				if err != nil {
					t.Fatal(err)
				}
				if e, ok := r.Payload.(trace.Error); ok {
					told = append(told, e.Code+": "+e.Message)
				}
			}
			if named := len(told) == 1 && strings.HasPrefix(told[0], "kept_by_agent: ") && strings.Contains(told[0], `"Always"`); named != kept || len(ended) != 1 || ended[0].ChosenOption != option {
				t.Errorf("%s: the record says %q, and the agent got %+v", option, told, ended)
			}
		})
	}
}

// An "always" that the agent does not keep is a grant of the session. The grant
// covers the same call, is shown, survives a restart, and ends when it is revoked
// or expires.
func TestAnAlwaysThatTheAgentDoesNotKeepIsAGrant(t *testing.T) {
	for _, c := range []struct {
		scope            permission.GrantScope
		again, elsewhere bool // whether the same call runs unasked again, and in another session
		thrice           bool
	}{
		{scope: "", again: true, thrice: true},
		{scope: permission.GrantOnce, again: true},
		{scope: permission.GrantAlways, again: true, thrice: true, elsewhere: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			waiting := make(chan string, 10)
			var ended []trace.PermissionResponse
			dir, state := t.TempDir(), t.TempDir()
			o := func(o *session.Options) {
				o.StateDir = state
				o.Agents["demo"] = session.Agent{
					Runtime: calls(waiting, &ended), Cwd: dir, Tools: toolkind.OpenAI(),
					Policy: permission.Policy{Remember: permission.Remember{Scope: c.scope, For: time.Hour}},
				}
			}
			log := eventlog.New(memlog.New())
			b := benchOn(t, log, o)
			// unasked prompts, and reports whether no person had to answer.
			unasked := func(where, id, words string, option string) bool {
				t.Helper()
				if _, err := b.Ensure(t.Context(), session.Spec{ID: where}); err != nil {
					t.Fatal(err)
				}
				if _, err := b.Prompt(t.Context(), where, session.Prompt{Message: text(id, words), By: "ada"}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				time.Sleep(time.Second)
				synctest.Wait()
				select {
				case request := <-waiting:
					if _, err := b.Permit(t.Context(), where, request, session.Sender{By: "ada"}, session.Choice{Option: option}); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					time.Sleep(time.Second)
					return false
				default:
					return true
				}
			}
			const run = `bash {"command":"make"}`
			if unasked("s", "u1", run, "always") {
				t.Error("the first call was not asked")
			}
			grants, err := b.Grants(t.Context(), "s")
			if err != nil || len(grants) != 1 {
				t.Fatalf("grants %+v, %v", grants, err)
			}
			if grants[0].By != "ada" || grants[0].Tool != "bash" || grants[0].Expires.Sub(grants[0].At) != time.Hour {
				t.Errorf("the grant is %+v", grants[0])
			}
			if got := unasked("s", "u2", run, "no"); got != c.again {
				t.Errorf("%q: the same call again runs unasked: %v", c.scope, got)
			}
			if unasked("s", "u3", `bash {"command":"make evil"}`, "no") {
				t.Errorf("%q: another command runs unasked", c.scope)
			}
			if err := b.Close(t.Context()); err != nil { // the process starts anew
				t.Fatal(err)
			}
			b = benchOn(t, log, o)
			defer b.close()
			if got := unasked("s", "u4", run, "no"); got != c.thrice {
				t.Errorf("%q: the same call after a restart runs unasked: %v", c.scope, got)
			}
			if got := unasked("other", "u1", run, "no"); got != c.elsewhere {
				t.Errorf("%q: the same call in another session runs unasked: %v", c.scope, got)
			}
			if c.again && !slices.ContainsFunc(ended, func(r trace.PermissionResponse) bool { return r.By == permission.ByGrant && r.Allowed() }) {
				t.Errorf("%q: no answer says that it is a grant's: %+v", c.scope, ended)
			}
			if c.thrice {
				if err := b.Revoke(t.Context(), "s", grants[0].ID); err != nil {
					t.Fatal(err)
				}
				if err := b.Revoke(t.Context(), "s", grants[0].ID); !errors.Is(err, session.ErrUnknownGrant) {
					t.Errorf("revoked twice: %v", err)
				}
				if unasked("s", "u5", run, "always") {
					t.Errorf("%q: a revoked grant counts", c.scope)
				}
				time.Sleep(2 * time.Hour)
				if unasked("s", "u6", run, "no") {
					t.Errorf("%q: an expired grant counts", c.scope)
				}
				if grants, err := b.Grants(t.Context(), "s"); err != nil || len(grants) != 0 {
					t.Errorf("%q: expired grants are listed: %+v, %v", c.scope, grants, err)
				}
			}
		})
	}
}

// A plain yes or no grants nothing for later.
func TestOnlyAnAlwaysGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := make(chan string, 10)
		var ended []trace.PermissionResponse
		agents := session.Agent{Runtime: calls(waiting, &ended), Cwd: t.TempDir(), Tools: toolkind.OpenAI()}
		b := newBench(t, func(o *session.Options) { o.Agents["demo"] = agents })
		defer b.close()
		for i, option := range []string{"yes", "no"} {
			turn := b.say([]string{"u1", "u2"}[i], `bash {"command":"make"}`)
			request := <-waiting
			synctest.Wait()
			if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Option: option}); err != nil {
				t.Fatal(err)
			}
			b.wait(turn)
		}
		if grants, err := b.Grants(t.Context(), "s"); err != nil || len(grants) != 0 {
			t.Errorf("a plain answer made grants %+v, %v", grants, err)
		}
		if _, err := b.Grants(t.Context(), "nope"); !errors.Is(err, session.ErrUnknownSession) {
			t.Errorf("the grants of no session: %v", err)
		}
		if err := b.Revoke(t.Context(), "s", "grant_nope"); !errors.Is(err, session.ErrUnknownGrant) {
			t.Errorf("revoke no grant: %v", err)
		}
	})
}

// A tool that neither the table nor the configuration knows is counted.
func TestUnknownToolsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := make(chan string, 10)
		var ended []trace.PermissionResponse
		var counted []agent.Count
		b := newBench(t, func(o *session.Options) {
			o.Meter = func(_ string, c agent.Count) { counted = append(counted, c) }
			o.Agents["demo"] = session.Agent{
				Runtime: calls(waiting, &ended), Cwd: t.TempDir(), Tools: toolkind.OpenAI().With(map[string]trace.ToolKind{"mine": trace.ToolOther}),
				Policy: permission.Policy{Rules: []permission.Rule{{Then: permission.Allow}}},
			}
		})
		defer b.close()
		for i, words := range []string{`bash {}`, `mine {}`, `frobnicate {}`} {
			b.wait(b.say([]string{"u1", "u2", "u3"}[i], words))
		}
		if !slices.Equal(counted, []agent.Count{agent.UnknownTool}) {
			t.Errorf("counted %v", counted)
		}
	})
}

// A policy does not allow a tool of an unknown application because of the tool's name, and neither
// does the metric take it for known.
func TestAGuessedKindIsNoReasonToAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := make(chan string, 10)
		var ended []trace.PermissionResponse
		var counted []agent.Count
		b := newBench(t, func(o *session.Options) {
			o.Meter = func(_ string, c agent.Count) { counted = append(counted, c) }
			o.Agents["demo"] = session.Agent{
				Runtime: calls(waiting, &ended), Cwd: t.TempDir(), Tools: toolkind.Table{}.Guess().With(map[string]trace.ToolKind{"glob": trace.ToolRead}),
				Policy: permission.Policy{Rules: []permission.Rule{{Kinds: []trace.ToolKind{trace.ToolRead}, Then: permission.Allow}, {Kinds: []trace.ToolKind{trace.ToolOther}, Then: permission.Deny, Reason: "unknown"}}},
			}
		})
		defer b.close()
		b.wait(b.say("u1", `read_file {"path":"a.txt"}`)) // the agent's adapter says that it reads
		if len(ended) != 1 || ended[0].Allowed() || ended[0].Rule != "rules[1]" {
			t.Errorf("read_file: %+v", ended)
		}
		if !slices.Equal(counted, []agent.Count{agent.UnknownTool}) {
			t.Errorf("counted %v", counted)
		}
	})
}

// Two requests that wait for one call: an "always" to the harmless one is no grant for
// the other input.
func TestAnAlwaysIsNoGrantForAnotherInputOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := make(chan string, 10)
		twice := scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, b *trace.Builder) error {
			var ids []string
			for _, input := range []string{`{"command":"ls"}`, `{"command":"rm -rf x"}`} {
				call := trace.ToolCall{ToolCallID: "c", RawName: "bash", Name: "bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(input)}
				id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: []trace.PermissionOption{
					{ID: "always", Name: "Always", OptionKind: trace.AllowAlways}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
				}}, call)
				ids = append(ids, id)
				waiting <- id
			}
			for _, id := range ids {
				if _, err := host.Permit(ctx, id); err != nil {
					return err
				}
			}
			return nil
		}}
		b := newBench(t, func(o *session.Options) {
			o.Agents["demo"] = session.Agent{Runtime: twice, Cwd: t.TempDir(), Tools: toolkind.OpenAI()}
		})
		defer b.close()
		turn := b.say("u1", "go")
		for i, option := range []string{"always", "no"} {
			request := <-waiting
			synctest.Wait()
			if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Option: option}); err != nil {
				t.Fatal(i, err)
			}
		}
		b.wait(turn)
		if grants, err := b.Grants(t.Context(), "s"); err != nil || len(grants) != 0 {
			t.Errorf("the grants are %+v, %v", grants, err)
		}
	})
}

// A call is judged, and its agent then asks about the same call: an "always" is still offered, and
// is a grant.
func TestAnAlwaysIsAGrantThoughTheCallWasJudgedBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := make(chan string, 1)
		judged := scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, b *trace.Builder) error {
			call := trace.ToolCall{ToolCallID: "c", RawName: "Skill", Name: "Skill", ToolKind: trace.ToolThink, Input: json.RawMessage(`{"skill":"know"}`)}
			request := trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Options: []trace.PermissionOption{
				{ID: "once", Name: "Once", OptionKind: trace.AllowOnce}, {ID: "always", Name: "Always", OptionKind: trace.AllowAlways}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
			}}
			if d := b.PermissionRequests(trace.PermissionCheck{Request: request, Call: call, Quiet: true, Granted: true})[0]; !d.Decided || !d.Answer.Allowed() {
				t.Errorf("judged as %+v", d)
			}
			id, _, _ := b.PermissionRequest(request, call)
			waiting <- id
			_, err := host.Permit(ctx, id)
			return err
		}}
		b := newBench(t, func(o *session.Options) {
			o.Agents["demo"] = session.Agent{Runtime: judged, Cwd: t.TempDir(), Tools: toolkind.Claude()}
		})
		defer b.close()
		turn := b.say("u1", "go")
		request := <-waiting
		synctest.Wait()
		if _, err := b.Permit(t.Context(), "s", request, session.Sender{By: "ada"}, session.Choice{Option: "always"}); err != nil {
			t.Fatal(err)
		}
		b.wait(turn)
		if grants, err := b.Grants(t.Context(), "s"); err != nil || len(grants) != 1 || grants[0].Tool != "Skill" {
			t.Errorf("the grants are %+v, %v", grants, err)
		}
	})
}
