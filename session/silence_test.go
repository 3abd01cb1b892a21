package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// hung is an agent that does nothing and ignores a stop. It lives until it is closed, or for an
// hour, so that a test in which nobody closes it comes to an end.
type hung struct{ ended chan time.Time }

func (h hung) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return &hungSession{h, make(chan struct{})}, nil
}

type hungSession struct {
	hung
	closed chan struct{}
}

func (h *hungSession) Prompt(context.Context, agent.Prompt, *trace.Builder) error {
	defer func() { h.ended <- time.Now() }()
	select {
	case <-h.closed:
		return errors.New("the agent was ended")
	case <-time.After(time.Hour):
		return nil
	}
}

func (h *hungSession) Close() error {
	select {
	case <-h.closed:
	default:
		close(h.closed)
	}
	return nil
}

// An agent that is silent for two minutes loses its turn. Five seconds after the end of a turn
// the gateway ends an agent that has ignored it, and the next prompt gets a fresh agent.
//
//evidence:for limit-silence
func TestASilentAgentIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hung{make(chan time.Time, 9)}
		b := newBench(t, with(t, h))
		defer b.close()
		// closed tells how long after a moment the agent ended.
		closed := func(since time.Time) time.Duration {
			time.Sleep(time.Minute)
			select {
			case at := <-h.ended:
				return at.Sub(since)
			default:
				t.Fatalf("the agent ignored the end of its turn, and runs on %s later", time.Since(since))
				return 0
			}
		}
		began := time.Now()
		s := stopOf(t, b.wait(b.say("u1", "x")))
		silent := time.Now()
		if s.Outcome != trace.OutcomeFailed || s.Reason != trace.ReasonIdle || s.Error != "The agent said nothing for 2m0s, so the turn was ended." || silent.Sub(began) != 2*time.Minute {
			t.Errorf("stop %+v after %s", s, silent.Sub(began))
		}
		if took := closed(silent); took != 5*time.Second {
			t.Errorf("the silent agent was ended %s after its turn, want 5 s", took)
		}
		second := b.say("u2", "x")
		time.Sleep(10 * time.Second)
		pressed := time.Now()
		if _, done, err := b.StopTurn(t.Context(), "s", "", "ada"); !done || err != nil {
			t.Errorf("stop: %v %v", done, err)
		}
		if s := stopOf(t, b.wait(second)); s.Outcome != trace.OutcomeCanceled {
			t.Errorf("second %+v", s)
		}
		if took := closed(pressed); took != 5*time.Second {
			t.Errorf("the agent that ignored a stop was ended %s after the stop, want 5 s", took)
		}
	})
}

// The silence of an agent does not count while one of its tools runs or a request waits. It
// counts from the end of the last of them.
func TestSilenceBehindAToolOrARequestIsNoSilence(t *testing.T) {
	for name, busy := range map[string]func(tb *trace.Builder){
		"a tool": func(tb *trace.Builder) {
			tb.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "make", Name: "make", ToolKind: trace.ToolExecute})
			time.Sleep(time.Hour)
			tb.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
		},
		"one of two tools": func(tb *trace.Builder) {
			for _, id := range []string{"c1", "c2"} {
				tb.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "make", Name: "make", ToolKind: trace.ToolExecute})
			}
			tb.ToolResult(trace.ToolResult{ToolCallID: "c1", Status: trace.ToolCompleted})
			time.Sleep(time.Hour)
			tb.ToolResult(trace.ToolResult{ToolCallID: "c2", Status: trace.ToolCompleted})
		},
		"a request": func(tb *trace.Builder) {
			id := tb.Question(trace.Question{QuestionID: "q", Text: "Which?"})
			time.Sleep(time.Hour)
			tb.Answer(trace.Answer{QuestionID: id, Outcome: trace.Canceled, Values: []string{}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := make(chan time.Time, 2) // when each turn was no longer busy
				b := newBench(t, with(t, scripted{prompt: func(ctx context.Context, _ agent.Host, p agent.Prompt, tb *trace.Builder) error {
					busy(tb)
					free <- time.Now()
					if p.Message.ID == "u2" {
						select {
						case <-ctx.Done():
						case <-time.After(time.Hour):
						}
					}
					return ctx.Err()
				}}))
				defer b.close()
				if s := stopOf(t, b.wait(b.say("u1", "x"))); s.Outcome != trace.OutcomeCompleted {
					t.Errorf("an hour behind %s ends the turn: %+v", name, s)
				}
				<-free
				s := stopOf(t, b.wait(b.say("u2", "x")))
				if silence := time.Since(<-free); s.Reason != trace.ReasonIdle || silence < 2*time.Minute || silence > 4*time.Minute {
					t.Errorf("silence behind the end of %s ends the turn after %s: %+v", name, silence, s)
				}
			})
		})
	}
}

// Some agents hide a failure of their model behind a completed turn without a word.
func TestACompletedTurnInWhichTheAgentShowsNothingSaysSo(t *testing.T) {
	completed := trace.Stop{Outcome: trace.OutcomeCompleted}
	for name, c := range map[string]struct {
		prompt string
		shows  trace.Payload
		want   bool
	}{
		"nothing":               {"x", completed, true},
		"no end":                {"x", nil, true},
		"a step":                {"x", trace.Step{Phase: trace.PhaseStart, NativeID: "1"}, true},
		"usage":                 {"x", trace.Usage{InputTokens: 1}, true},
		"a state":               {"x", trace.Status{State: "busy"}, true},
		"a notice":              {"x", trace.Notice("retry", "again"), true},
		"data of its world":     {"x", trace.Data{Name: "git", Domain: true}, true},
		"an empty text":         {"x", trace.Message{Part: "1"}, true},
		"a text":                {"x", trace.Message{Part: "1", Text: "hi"}, false},
		"a thought":             {"x", trace.Thought{Part: "1", Text: "hm"}, false},
		"a call":                {"x", trace.ToolCall{ToolCallID: "1"}, false},
		"a plan":                {"x", trace.Plan{}, false},
		"a file":                {"x", trace.File{URL: "https://example.com"}, false},
		"data":                  {"x", trace.Data{Name: "chart"}, false},
		"an error":              {"x", trace.Error{Message: "no"}, false},
		"an output at the end":  {"x", trace.Stop{Outcome: trace.OutcomeCompleted, FinalOutput: "hi"}, false},
		"nothing, canceled":     {"x", trace.Stop{Outcome: trace.OutcomeCanceled}, false},
		"nothing, failed":       {"x", trace.Stop{Outcome: trace.OutcomeFailed, Error: "no"}, false},
		"nothing, of a command": {"/clear", completed, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, with(t, scripted{prompt: func(_ context.Context, _ agent.Host, _ agent.Prompt, b *trace.Builder) error {
				b.Emit(c.shows)
				return nil
			}}))
			defer b.close()
			said := false
			turn, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u1", c.prompt), By: "ada", MayPermit: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range b.wait(turn) {
				e, _ := r.Payload.(trace.Error)
				said = said || e.Code == "no_answer" && e.Level == trace.LevelNotice
			}
			if said != c.want {
				t.Errorf("%s: a notice is %v, want %v", name, said, c.want)
			}
		})
	}
}
