package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
)

// The memory of an agent that is a program is on the machine of the gateway that has started it. Another gateway takes no prompt
// for it, and writes nothing.
func TestThePromptsOfASessionGoWhereItsAgentHasItsMemory(t *testing.T) {
	a, b := session.Home{Gateway: "a", Address: "10.0.0.11:8788"}, session.Home{Gateway: "b"}
	for _, c := range []struct {
		name   string
		agent  session.Agent
		at     session.Home // the second prompt
		home   string       // of the session after the first, as the gateways see it
		refuse bool
	}{
		{name: "another gateway", agent: session.Agent{Runtime: notebook{}, State: session.StateNode}, at: b, home: "a", refuse: true},
		{name: "the same gateway", agent: session.Agent{Runtime: notebook{}, State: session.StateNode}, at: a, home: "a"},
		{name: "a gateway without others", agent: session.Agent{Runtime: notebook{}, State: session.StateNode}, home: "a"},
		{name: "an agent whose memory is everywhere", agent: session.Agent{Runtime: notebook{}, State: session.StateShared}, at: b},
		{name: "an agent without memory", agent: session.Agent{Runtime: notebook{mute: true}, State: session.StateNode}, at: b},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.agent.Cwd = t.TempDir()
			store := memlog.New()
			on := func(home session.Home) *bench {
				return benchOn(t, eventlog.New(store), func(o *session.Options) { o.Agents["demo"], o.Home = c.agent, home })
			}
			first := on(a)
			first.wait(first.say("u1", "one"))
			if home, err := first.HomeOf(t.Context(), "s"); err != nil || home != c.home {
				t.Errorf("the memory is on %q (%v), want %q", home, err, c.home)
			}
			if err := first.Hub.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			second := on(c.at)
			defer second.close()
			turn, err := second.Prompt(t.Context(), "s", session.Prompt{Message: text("u2", "two")})
			refused, is := errors.AsType[*session.HomeError](err)
			if is != c.refuse || is && (refused.Home != a || !errors.Is(err, session.ErrElsewhere) || !strings.Contains(err.Error(), "on the gateway 10.0.0.11:8788: start that gateway")) || !is && err != nil {
				t.Fatalf("the second prompt: %v", err)
			}
			if is {
				if ids := second.history(); ids != "u1 A" {
					t.Errorf("the history is %q", ids)
				}
				return
			}
			second.wait(turn)
		})
	}
}
