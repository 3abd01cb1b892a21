package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
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
			if is != c.refuse || is && (refused.Home != a || !errors.Is(err, session.ErrElsewhere) || !strings.Contains(err.Error(), "on the gateway a: start that gateway")) || !is && err != nil {
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

// homes is a store with gateways that share it, one after another.
func homes(t *testing.T, store eventlog.Store, home string, runtime agent.Runtime) *bench {
	t.Helper()
	return benchOn(t, eventlog.New(store), func(o *session.Options) {
		o.Agents["demo"], o.Home = session.Agent{Runtime: runtime, State: session.StateNode, Cwd: t.TempDir()}, session.Home{Gateway: home}
	})
}

func (b *bench) leave() {
	b.t.Helper()
	now, cancel := context.WithCancel(b.t.Context())
	cancel()
	if err := b.Hub.Close(now); err != nil {
		b.t.Fatal(err)
	}
}

// A gateway without the memory of the agent runs no prompt that was held, and keeps it.
func TestHeldPromptsWaitForTheHomeOfTheirSession(t *testing.T) {
	store := memlog.New()
	first := homes(t, store, "a", notebook{})
	first.wait(first.say("u1", "one"))
	first.say("u2", "slow")
	first.say("u3", "three")
	first.leave()
	second := homes(t, store, "b", notebook{})
	defer second.close()
	before := second.queue()
	if err := second.ContinueQueue(t.Context(), "s", session.Sender{By: "ada"}); !errors.Is(err, session.ErrElsewhere) {
		t.Errorf("the queue is continued: %v", err)
	}
	if after := second.queue(); before == "" || after != before {
		t.Errorf("%q waits, before %q", after, before)
	}
}

// broken is an agent that does not open.
type broken struct{ notebook }

func (broken) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return nil, errors.New("it does not start")
}

// A session from before there were several gateways goes to the first that opens its agent, and not to one where it does not open.
func TestAnAgentThatDoesNotOpenHasNoMemoryThere(t *testing.T) {
	store := memlog.New()
	alone := homes(t, store, "", notebook{})
	alone.wait(alone.say("u1", "one"))
	alone.leave()
	second := homes(t, store, "b", broken{})
	second.wait(second.say("u2", "two"))
	second.leave()
	first := homes(t, store, "a", notebook{})
	defer first.close()
	first.wait(first.say("u3", "three"))
	if home, err := first.HomeOf(t.Context(), "s"); err != nil || home != "a" {
		t.Errorf("the memory is on %q (%v)", home, err)
	}
}
