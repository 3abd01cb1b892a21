package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// asker is an agent whose turn asks for the same command whenever it is told to.
type asker struct {
	ask     chan struct{}
	waiting chan string // ids of requests that wait for a person
	by      chan string // who has allowed the command, or ""
}

func newAsker() asker {
	return asker{make(chan struct{}), make(chan string, 9), make(chan string, 9)}
}

func (a asker) runtime() scripted {
	return scripted{prompt: func(ctx context.Context, host agent.Host, _ agent.Prompt, b *trace.Builder) error {
		for n := 1; ; n++ {
			select {
			case <-a.ask:
			case <-ctx.Done():
				return ctx.Err()
			}
			call := trace.ToolCall{ToolCallID: fmt.Sprint("c", n), RawName: "bash", Name: "bash", ToolKind: trace.ToolExecute, Input: json.RawMessage(`{"command":"make"}`)}
			id, answer, decided := b.PermissionRequest(trace.PermissionRequest{RequestID: fmt.Sprint("r", n), ToolCallID: call.ToolCallID, Options: []trace.PermissionOption{
				{ID: "yes", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "always", Name: "Always", OptionKind: trace.AllowAlways}, {ID: "no", Name: "Deny", OptionKind: trace.RejectOnce},
			}}, call)
			if !decided {
				a.waiting <- id
				answer, _ = host.Permit(ctx, id)
			}
			if !answer.Allowed() {
				answer.By = ""
			}
			a.by <- answer.By
		}
	}}
}

// A revocation at one gateway counts at the next call that another gateway judges. A grant of a
// session is its owner's: another gateway refuses, and the owner revokes.
func TestARevokedGrantCoversNoCallOfAnotherGateway(t *testing.T) {
	t.Parallel()
	for _, scope := range []permission.GrantScope{permission.GrantAlways, permission.GrantSession} {
		t.Run(string(scope), func(t *testing.T) {
			t.Parallel()
			url := postgres.Database(t)
			policy := func(a *session.Agent) {
				a.Tools, a.Policy = toolkind.OpenAI(), permission.Policy{Remember: permission.Remember{Scope: scope}}
			}
			agent := newAsker()
			first := share(t, sqllog.Options{URL: url}, agent.runtime(), policy)
			first.prompt("u1", "go") // the first owns the session from now on
			asks := func(choice string) (by string) {
				t.Helper()
				agent.ask <- struct{}{}
				select {
				case id := <-agent.waiting:
					awaits(t, "the request", func() bool { return len(first.Waiting(session.Selection{})) == 1 })
					if _, err := first.Permit(t.Context(), "s", id, session.Sender{By: "ada"}, session.Choice{Option: choice}); err != nil {
						t.Fatal(err)
					}
					return receives(t, "the answer", agent.by)
				case by := <-agent.by:
					return by
				case <-time.After(30 * time.Second):
					t.Fatal("the request does not come")
				}
				return ""
			}
			if by := asks("always"); by != "ada" {
				t.Fatalf("the first call is allowed by %q", by)
			}
			if by := asks("no"); by != permission.ByGrant {
				t.Errorf("the second call is allowed by %q", by)
			}
			second := share(t, sqllog.Options{URL: url}, newAsker().runtime(), policy)
			var grants []permission.Grant
			awaits(t, "the grant at the second gateway", func() (is bool) {
				var err error
				grants, err = second.Grants(t.Context(), "s")
				return err == nil && len(grants) == 1
			})
			err := second.Revoke(t.Context(), "s", grants[0].ID)
			if elsewhere := errors.Is(err, session.ErrElsewhere); elsewhere != (scope == permission.GrantSession) || !elsewhere && err != nil {
				t.Errorf("revoked at the second gateway: %v", err)
			} else if elsewhere {
				if by := asks("no"); by != permission.ByGrant {
					t.Errorf("the grant is refused to be revoked, and the next call is allowed by %q", by)
				}
				if err := first.Revoke(t.Context(), "s", grants[0].ID); err != nil {
					t.Errorf("revoked at the owner: %v", err)
				}
			}
			if by := asks("no"); by != "" {
				t.Errorf("after the revocation the call is allowed by %q", by)
			}
			if err := first.Revoke(t.Context(), "s", grants[0].ID); !errors.Is(err, session.ErrUnknownGrant) {
				t.Errorf("revoked twice: %v", err)
			}
		})
	}
}

// Earlier versions kept the grants of all sessions in a file. The store has them now.
func TestGrantsInTheFileOfAnEarlierVersionCountOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "grants.json")
	old := `[{"id":"grant_1","scope":"always","agent":"far","tool":"bash","kind":"execute","input":{"command":"make"},"by":"ada","at":"2026-11-01T00:00:00Z"}]`
	if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	g := share(t, sqllog.Options{Dir: dir}, newAsker().runtime())
	if _, err := g.Ensure(t.Context(), session.Spec{ID: "s", By: "ada"}); err != nil {
		t.Fatal(err)
	}
	if all, err := g.Grants(t.Context(), "s"); err != nil || len(all) != 1 || all[0].ID != "grant_1" || all[0].Tool != "bash" {
		t.Errorf("the grants are %+v, %v", all, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there, and would bring a revoked grant back")
	}
}
