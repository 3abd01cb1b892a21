package session_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// telling is an agent that tells of itself when it is opened, and in a turn what the prompt says.
type telling struct {
	first []trace.AgentInfo
	fails bool
}

func (a telling) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	for _, info := range a.first {
		host.Note(info.Payload())
	}
	if a.fails {
		return nil, errors.New("it is not installed: install it")
	}
	return tellingSession{host}, nil
}

type tellingSession struct{ host agent.Host }

func (s tellingSession) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	if p.Text() != "" {
		s.host.Note(trace.AgentInfo{Model: p.Text()}.Payload())
	}
	b.Message("a", "hello")
	return nil
}

func (tellingSession) Close() error { return nil }

// outline is what is on record of a session: the agent, and the kinds of the records that matter here.
func (b *bench) outline() (all []any) {
	for r, err := range b.log.Durable(b.t.Context(), "s", 0, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		switch p := r.Payload.(type) {
		case trace.Data:
			if info, is := p.Agent(); is {
				all = append(all, info)
			}
		case trace.Prompt, trace.Stop:
			all = append(all, p.Kind())
		}
	}
	return all
}

func TestTheTraceSaysWhichAgentItIsOf(t *testing.T) {
	known := trace.AgentInfo{Name: "demo", Adapter: "toy"}
	told := trace.AgentInfo{Product: "Toy", Version: "1", Tools: []trace.ToolDefinition{{Name: "saw", InputSchema: []byte(`{"type": "object"}`)}}}
	all := known.With(told)
	for _, c := range []struct {
		name    string
		agent   telling
		prompts []string
		want    []any
	}{
		{"an agent that tells nothing", telling{}, []string{"x", ""}, []any{trace.KindPrompt, known, known.With(trace.AgentInfo{Model: "x"}), trace.KindStop, trace.KindPrompt, trace.KindStop}},
		{"one that tells when it is opened", telling{first: []trace.AgentInfo{told, {}, {Product: "Toy"}}}, []string{""}, []any{trace.KindPrompt, all, trace.KindStop}},
		{"one that tells the same in each turn", telling{first: []trace.AgentInfo{told}}, []string{"x", "x", "y"}, []any{
			trace.KindPrompt, all, all.With(trace.AgentInfo{Model: "x"}), trace.KindStop, trace.KindPrompt, trace.KindStop, trace.KindPrompt, all.With(trace.AgentInfo{Model: "y"}), trace.KindStop,
		}},
		{"one that does not open", telling{fails: true}, []string{""}, []any{trace.KindPrompt, known, trace.KindStop}},
		{"one that takes another's name", telling{first: []trace.AgentInfo{{Name: "claude", Adapter: "claude"}}}, []string{""}, []any{trace.KindPrompt, known, trace.KindStop}},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(o *session.Options) {
				o.Agents["demo"] = session.Agent{Runtime: c.agent, Adapter: "toy", Cwd: t.TempDir()}
			})
			defer b.close()
			for i, prompt := range c.prompts {
				m := text(fmt.Sprint("u", i), prompt)
				if prompt == "" {
					m.Parts = []trace.InputPart{{Type: trace.InputFile, URL: "data:text/plain;base64,eA==", MediaType: "text/plain"}}
				}
				turn, err := b.Prompt(t.Context(), "s", session.Prompt{Message: m})
				if err != nil {
					t.Fatal(err)
				}
				b.wait(turn)
			}
			if diff := cmp.Diff(c.want, b.outline()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", c.name, diff)
			}
		})
	}
}

// A restart of the gateway, or of the agent, writes nothing that is on record already. What the agent
// does not tell again stays known, unless the name means another adapter now.
func TestARestartSaysOfTheAgentOnlyWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := keeping{memlog.New()}
		dir := t.TempDir()
		start := func(adapter string, first ...trace.AgentInfo) *bench {
			return benchOn(t, eventlog.New(store), func(o *session.Options) {
				o.Agents["demo"] = session.Agent{Runtime: telling{first: first}, Adapter: adapter, Cwd: dir}
			})
		}
		one := trace.AgentInfo{Product: "Toy", Version: "1"}
		x := trace.AgentInfo{Name: "demo", Adapter: "toy", Product: "Toy", Version: "1", Model: "x"}
		for i, c := range []struct {
			adapter string
			first   trace.AgentInfo
			news    []any
		}{
			{"toy", one, []any{trace.AgentInfo{Name: "demo", Adapter: "toy", Product: "Toy", Version: "1"}, x}},
			{"toy", one, nil},
			{"toy", trace.AgentInfo{Version: "2"}, []any{x.With(trace.AgentInfo{Version: "2"})}},
			{"gadget", trace.AgentInfo{}, []any{trace.AgentInfo{Name: "demo", Adapter: "gadget"}, trace.AgentInfo{Name: "demo", Adapter: "gadget", Model: "x"}}},
		} {
			b := start(c.adapter, c.first)
			before := len(b.outline())
			b.wait(b.say(fmt.Sprint("u", i), "x"))
			want := append(append([]any{trace.KindPrompt}, c.news...), trace.KindStop)
			if diff := cmp.Diff(want, b.outline()[before:]); diff != "" {
				t.Errorf("start %d: (-want +got)\n%s", i+1, diff)
			}
			b.close()
		}
	})
}
