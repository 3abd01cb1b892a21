package session_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

func (b *bench) controls(id string) session.Controls {
	b.t.Helper()
	c, err := b.Controls(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func TestASessionOffersWhatItsAgentLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *session.Options) {
			a := o.Agents["demo"]
			a.Files = true
			o.Agents["demo"] = a
		})
		defer b.close()
		if c := b.controls("s"); c.Modes != nil || c.Models != nil || c.Commands != nil || c.Mode != "" || c.Steer || !c.Files {
			t.Errorf("before the agent has begun: %+v", c)
		}
		b.wait(b.say("u1", "hello"))
		c := b.controls("s")
		if len(c.Modes) != 3 || len(c.Models) != 2 || len(c.Commands) == 0 || c.Mode != "ask" || c.Model != "demo" || !c.Steer {
			t.Errorf("the agent offers %+v", c)
		}
		if _, err := b.Ensure(t.Context(), session.Spec{ID: "new", Mode: "plan", Model: "demo-mini"}); err != nil {
			t.Fatal(err)
		}
		if c := b.controls("new"); len(c.Modes) != 3 || len(c.Models) != 2 || len(c.Commands) == 0 || c.Mode != "plan" || c.Model != "demo-mini" || c.Steer {
			t.Errorf("a session whose agent has not begun offers %+v", c)
		}
		if o := b.LastOffers("demo"); len(o.Modes) != 3 || o.Mode != "" || o.Model != "" {
			t.Errorf("last the agent offered %+v", o)
		}
	})
}

func TestTheChosenModeAndModelAreShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.close()
		mode, model, none := "auto", "demo-mini", "none"
		b.wait(b.say("u1", "hello"))
		if _, err := b.Change(t.Context(), "s", session.Change{Mode: &mode, Model: &model}); err != nil {
			t.Fatal(err)
		}
		if c := b.controls("s"); c.Mode != mode || c.Model != model {
			t.Errorf("after a change: %+v", c)
		}
		if _, err := b.Change(t.Context(), "s", session.Change{Mode: &none}); err == nil {
			t.Error("the agent has a mode that it does not list")
		}
		if c := b.controls("s"); c.Mode != mode {
			t.Errorf("after a change that was refused: %+v", c)
		}
	})
}

// An agent may list anything.
func TestListsOfAnAgentAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, with(t, scripted{prompt: func(_ context.Context, host agent.Host, _ agent.Prompt, b *trace.Builder) error {
			host.Note(trace.Commands(make([]trace.Command, 5000)))
			host.Note(trace.Data{Name: "modes", Domain: true, Value: []byte(`[1]`)})
			b.Message("1", "ok")
			return nil
		}}))
		defer b.close()
		b.wait(b.say("u1", "hello"))
		if c := b.controls("s"); len(c.Commands) != 1000 || c.Modes != nil {
			t.Errorf("%d commands and %d modes are kept", len(c.Commands), len(c.Modes))
		}
	})
}
