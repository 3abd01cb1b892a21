package session_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// waits lists the requests that wait, each as its session and its kind.
func (b *bench) waits(c session.Selection) string {
	b.t.Helper()
	var all []string
	for _, w := range b.Waiting(c) {
		all = append(all, w.Info.ID+" "+string(w.Asked.Kind()))
	}
	return strings.Join(all, ", ")
}

func TestTheInboxHasWhatWaitsInAllSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		expect(t, "at the start", b.waits(session.Selection{}), "")
		turn, id := b.pause("u1", "approve")
		if _, err := b.Create(t.Context(), session.Spec{ID: "of bob", By: "bob"}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Prompt(t.Context(), "of bob", session.Prompt{Message: text("u2", "ask"), By: "bob"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		expect(t, "two sessions", b.waits(session.Selection{}), "s permission_request, of bob question")
		expect(t, "those of bob", b.waits(session.Selection{Person: "bob"}), "of bob question")
		w := b.Waiting(session.Selection{})[0]
		if w.ID != id || w.Turn != turn.ID || w.MessageID != turn.MessageID || !strings.Contains(string(w.Call.Input), "command") || !w.TakesInput || !w.TakesReason {
			t.Errorf("the request is %+v", w)
		}
		if s, err := b.Get(t.Context(), "s"); err != nil || !slices.Equal(s.Waiting, []string{id}) {
			t.Errorf("the session waits for %q, %v", s.Waiting, err)
		}
		b.allow(id, "ada")
		synctest.Wait()
		expect(t, "after an answer", b.waits(session.Selection{}), "of bob question")
		if all, err := b.WaitingIn(t.Context(), "s"); err != nil || len(all) != 0 {
			t.Errorf("of the session with the answer: %+v, %v", all, err)
		}
		if _, err := b.Delete(t.Context(), "of bob"); err != nil {
			t.Fatal(err)
		}
		expect(t, "after a deletion", b.waits(session.Selection{}), "")
		b.wait(turn)
		second, _ := b.pause("u3", "several")
		expect(t, "several", b.waits(session.Selection{}), "s question, s question, s question")
		if _, _, err := b.StopTurn(t.Context(), "s", second.ID, "ada"); err != nil {
			t.Fatal(err)
		}
		expect(t, "after a stop", b.waits(session.Selection{}), "")
	})
}

// The inbox reads nothing from the store, and looks at the sessions that wait only.
func TestSessionsThatWaitForNothingCostTheInboxNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		b.pause("u1", "approve")
		read := func() float64 { // the least of some: what other tests have left may allocate meanwhile
			least := math.Inf(1)
			for range 10 {
				least = min(least, testing.AllocsPerRun(20, func() { b.Waiting(session.Selection{}) }))
			}
			return least
		}
		before := read()
		for i := range 2000 {
			if _, err := b.Create(t.Context(), session.Spec{ID: fmt.Sprint("n", i)}); err != nil {
				t.Fatal(err)
			}
		}
		if after := read(); after > before {
			t.Errorf("with 2000 more sessions in memory the inbox needs %.0f allocations, and %.0f before", after, before)
		}
	})
}

func TestARequestSaysHowFarEachOptionReaches(t *testing.T) {
	for name, c := range map[string]struct {
		policy permission.Policy
		call   string
		want   string
	}{
		"a command":            {permission.Policy{}, `bash {"command":"make"}`, "calls with this input in this session"},
		"inside the workspace": {permission.Policy{Remember: permission.Remember{For: 8 * time.Hour}}, `write_file {"path":"a.txt","content":"x"}`, "calls of this tool inside the workspace in this session, for 8h"},
		"all sessions":         {permission.Policy{Remember: permission.Remember{Scope: permission.GrantAlways}}, `bash {"command":"make"}`, "calls with this input in all sessions with this agent"},
		"once more":            {permission.Policy{Remember: permission.Remember{Scope: permission.GrantOnce, For: 90 * time.Minute}}, `bash {"command":"make"}`, "this call and one more with this input, for 1h30m"},
		"a rule asks":          {permission.Policy{Rules: []permission.Rule{{Tool: "bash", Then: permission.Ask}}}, `bash {"command":"make"}`, ""},
		"a rule may deny":      {permission.Policy{Rules: []permission.Rule{{Commands: []string{"rm *"}, Then: permission.Deny}}}, `bash {"command":"cd x && make"}`, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			waiting := make(chan string, 10)
			var ended []trace.PermissionResponse
			b := newBench(t, func(o *session.Options) {
				o.Agents["demo"] = session.Agent{
					Runtime: calls(waiting, &ended), Cwd: t.TempDir(), Tools: toolkind.OpenAI(), Policy: c.policy,
				}
			})
			defer b.close()
			b.say("u1", c.call)
			<-waiting
			all := b.Waiting(session.Selection{})
			if len(all) != 1 {
				t.Fatalf("%s: there wait %+v", name, all)
			}
			asked, _ := all[0].Asked.(trace.PermissionRequest)
			if slices.ContainsFunc(asked.Options, func(o trace.PermissionOption) bool { return o.OptionKind == trace.AllowAlways }) != (c.want != "") {
				t.Errorf("%s: the options are %+v", name, asked.Options)
			}
			for i, o := range asked.Options {
				want := permission.ThisCall
				switch o.OptionKind { //nolint:exhaustive // the others are about the call
				case trace.AllowAlways:
					want = c.want
				case trace.RejectAlways: // the gateway keeps no refusal
					want = "as long as the agent remembers it"
				}
				if all[0].Scopes[i] != want {
					t.Errorf("%s: the option %s reaches %q, want %q", name, o.ID, all[0].Scopes[i], want)
				}
			}
			if all[0].TakesInput || all[0].TakesReason {
				t.Errorf("%s: the agent does not say that it takes more than an option", name)
			}
			if _, err := b.Permit(t.Context(), "s", all[0].ID, session.Sender{By: "ada"}, session.Choice{Option: "no"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		})
	}
}

// A session that another gateway runs is running here too, until its turn ends there.
func TestASessionOfAnotherGatewayHasTheSameStateInTheListAndAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := twoSides()
		b, other := benchOn(t, eventlog.New(one), nil), benchOn(t, eventlog.New(two), nil)
		defer other.Close(t.Context()) //nolint:errcheck // it has no error
		defer b.close()
		if _, err := other.Create(t.Context(), session.Spec{ID: "n", By: "ada"}); err != nil {
			t.Fatal(err)
		}
		check := func(what string, want session.State, turn string) {
			t.Helper()
			synctest.Wait()
			alone, err := b.Get(t.Context(), "n")
			if err != nil || alone.State != want || alone.Turn != turn {
				t.Errorf("%s alone: %s %q %v", what, alone.State, alone.Turn, err)
			}
			page, _, err := b.List(t.Context(), session.Selection{}, 0, 1)
			if err != nil || page[0].State != want || page[0].Turn != turn {
				t.Errorf("%s in the list: %s %q %v", what, page[0].State, page[0].Turn, err)
			}
		}
		check("before", session.Idle, "")
		turn, err := other.Prompt(t.Context(), "n", session.Prompt{Message: text("u1", "ask"), By: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.List(t.Context(), session.Selection{}, 0, 1); err != nil {
			t.Fatal(err)
		}
		check("while it runs", session.Running, turn.ID)
		if _, _, err := other.StopTurn(t.Context(), "n", turn.ID, "ada"); err != nil {
			t.Fatal(err)
		}
		check("after the stop", session.Idle, "")
	})
}
