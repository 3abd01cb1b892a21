package demo_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func TestPace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word string
		pace time.Duration
		want time.Duration
	}{
		{"slow", demo.DefaultPace, 10 * time.Second},
		{"slow", time.Millisecond, 500 * time.Millisecond},
		{"slow", 0, 0},
		{"long", demo.DefaultPace, 40 * time.Second},
		{"error", time.Second, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			host := desk()
			session := open(t, host, c.pace, "")
			begun := time.Now()
			play(t, session, host, c.word)
			if took := time.Since(begun); took != c.want {
				t.Errorf("%s at a pace of %s took %s, want %s", c.word, c.pace, took, c.want)
			}
		})
	}
}

// A turn that is stopped ends at once, in the middle of any script.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"think", "tool", "fail", "parallel", "approve", "both", "beside", "meanwhile", "twice", "withdraw", "mixed", "ask", "usage", "plan", "file", "data",
		"subagent", "error", "slow", "quiet", "long", "big", "unicode", "remember", "all", "hello", "help",
		"shell", "edit", "review", "markdown", "read", "search", "fetch", "todo", "nested", "unknown", "picture", "context", "scopes", "change", "about", "huge",
	} {
		for _, closing := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				host := desk()
				host.OnPermit = func(ctx context.Context, _ trace.PermissionRequest) trace.PermissionResponse {
					<-ctx.Done()
					return trace.PermissionResponse{}
				}
				session := open(t, host, time.Second, "")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := host.Turn(ask(word))
				begun := time.Now()
				go func() {
					time.Sleep(2500 * time.Millisecond)
					if !closing {
						cancel()
						return
					}
					if err := session.Close(); err != nil {
						t.Error(err)
					}
				}()
				if err := session.Prompt(ctx, ask(word), r.Builder); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun); took != 2500*time.Millisecond {
					t.Errorf("%s was stopped after 2.5s and returned after %s", word, took)
				}
				verdict, _ := r.Result()
				if verdict.Outcome != trace.OutcomeCanceled {
					t.Errorf("%s was stopped and ended as %+v", word, verdict)
				}
				if err := r.Finish(verdict); err != nil {
					t.Error(err)
				}
				if err := agenttest.CheckTurn(r.Events()); err != nil {
					t.Errorf("%s: %v", word, err)
				}
			})
		}
	}
}

func TestRemember(t *testing.T) {
	t.Parallel()
	host := desk()
	session := open(t, host, 0, "")
	if said := agenttest.Said(play(t, session, host, "remember")); !strings.Contains(said, "first prompt") {
		t.Errorf("at first the demo said %q", said)
	}
	play(t, session, host, "hello, I am Ann")
	before := agenttest.Said(play(t, session, host, "remember"))
	if !strings.Contains(before, "- remember\n- hello, I am Ann\n") {
		t.Errorf("the demo remembers %q", before)
	}
	again := open(t, host, 0, host.Token())
	after := agenttest.Said(play(t, again, host, "remember"))
	if after != strings.TrimSuffix(before, "\n")+"\n- remember\n" {
		t.Errorf("after a restart the demo remembers %q, before it %q", after, before)
	}
}

// Ids are unique in a session, also after a restart: answers name them alone.
func TestIDsOutliveRestart(t *testing.T) {
	t.Parallel()
	host := desk()
	seen := map[string]bool{}
	for range 3 {
		session := open(t, host, 0, host.Token())
		for range 2 {
			for _, r := range agenttest.Each[trace.PermissionRequest](play(t, session, host, "approve")) {
				if seen[r.RequestID] || seen[r.ToolCallID] {
					t.Errorf("an id came twice: %+v", r)
				}
				seen[r.RequestID], seen[r.ToolCallID] = true, true
			}
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	host := desk()
	session := open(t, host, 0, "")
	for i := range 30 {
		play(t, session, host, fmt.Sprintf("prompt %d %s", i, strings.Repeat("\U0001F600", 500)))
	}
	said := agenttest.Said(play(t, session, host, "remember"))
	if strings.Count(said, "- prompt") != 20 || strings.Contains(said, "prompt 9 ") || strings.Contains(said, "\uFFFD") {
		t.Errorf("the demo remembers %q", said)
	}
}

// A prompt that was withdrawn from the queue has no reply. A typed answer begins a reply
// in the middle of a turn. Both are no prompts that the demo has played.
func TestOnlyPlayedPromptsAreRemembered(t *testing.T) {
	t.Parallel()
	host := desk()
	said := func(turn, text string) trace.Record {
		return trace.Record{Turn: turn, Event: trace.Event{Actor: trace.User, Payload: trace.Prompt{Message: ask(text).Message}}}
	}
	reply := func(turn string, cause trace.Cause) trace.Record {
		return trace.Record{Turn: turn, Event: trace.Event{Actor: trace.Gateway, Payload: trace.Reply{Cause: cause}}}
	}
	host.Past = []trace.Record{
		said("a", "approve"), reply("a", trace.CausePrompt), said("a", "yes, do"), reply("a", trace.CauseAnswer),
		said("b", "never played"), said("c", "hello"), reply("c", trace.CausePrompt),
	}
	if said := agenttest.Said(play(t, open(t, host, 0, ""), host, "remember")); said != "Before this you said:\n\n- approve\n- hello\n" {
		t.Errorf("the demo remembers %q", said)
	}
}

// amnesiac is a host whose history cannot be read.
type amnesiac struct{ *agenttest.Host }

func (amnesiac) History(context.Context) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) { yield(trace.Record{}, errors.New("the disk is gone")) }
}

func TestATurnFailsIfTheHistoryCannotBeRead(t *testing.T) {
	t.Parallel()
	host := desk()
	events := play(t, open(t, amnesiac{host}, 0, ""), host, "hello")
	if stop := agenttest.Each[trace.Stop](events)[0]; stop.Outcome != trace.OutcomeFailed || stop.Error != "read the conversation so far: the disk is gone" {
		t.Errorf("the turn ended as %+v", stop)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	if version, err := (demo.Runtime{}).Probe(t.Context()); err != nil || version == "" {
		t.Errorf("Probe returned %q, %v", version, err)
	}
}
