package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
)

// bothWays is a server that judges tokens of its own, and tells the service of others.
type bothWays struct {
	elsewhere
	people host
}

func (b *bothWays) FindUser(ctx context.Context, id, user string) (agent.Found, error) {
	return b.people.FindUser(ctx, strings.Replace(id, "remote", "far", 1), user)
}

// In one session, pass-through tokens are judged by the server, and the gateway's principals by
// their names, in any order. Neither opens the session to the other.
func TestB04_B07_PassThroughTokensAndPrincipalsInOneSession(t *testing.T) {
	tokens := []access.Token{
		{Name: "bob", Token: "bob-012345678901234567890", Role: access.Viewer}, {Name: "ci", Token: "ci-012345678901234567890", Role: access.Collaborator},
	}
	guard, err := access.New(access.Config{Listen: "127.0.0.1:0", PassThrough: "ops", Public: gateway.Public, Refuse: gateway.Refuse, Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	ops := &bothWays{}
	s := newStandOn(t, memlog.New(), func(o *session.Options) {
		o.Agents["ops"] = session.Agent{Runtime: ops, Cwd: t.TempDir(), Policy: permission.Default()}
	}, func(o *gateway.Options) { o.PassThrough, o.Guard = "ops", guard.Wrap })
	ask := func(token, id string, want int) {
		t.Helper()
		if status, body := s.bring(token, "POST", "/api/sessions/"+id+"/chat", submit("", "u-"+token, "hello")); status != want {
			t.Errorf("%.4s at %s: %d %s", token, id, status, body)
		}
	}
	ask("bob-012345678901234567890", "remote-1", 200)
	ask(adaToken, "remote-1", 200)
	ask(vicToken, "remote-1", 404)
	ask("ci-012345678901234567890", "remote-1", 404)
	ask("sk_nobody_0123456789", "remote-1", 401)
	ask("ci-012345678901234567890", "remote-2", 404)
	ask("bob-012345678901234567890", "none", 404)
	ask(adaToken, "remote-3", 200) // a pass-through token comes first, and still it is not everybody's
	ask("ci-012345678901234567890", "remote-3", 404)
	ask("bob-012345678901234567890", "remote-3", 200)
	if n := ops.count(); n == 0 || ops.people.count() == 0 {
		t.Errorf("asked %d times by token, %d by name", n, ops.people.count())
	}
}
