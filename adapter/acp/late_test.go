package acp_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// told is what a turn says, and the results of its calls.
func told(events []trace.Event) string {
	words := strings.Fields(agenttest.Said(events))
	for _, r := range agenttest.Each[trace.ToolResult](events) {
		words = append(words, r.ToolCallID+":"+string(r.Status))
	}
	return strings.Join(words, " ")
}

// TestWhatComesBehindTheReply plays agents that end their turns too early. What comes just behind the reply belongs to
// the turn. Later results stand in the turn that runs, or in one of the agent's own.
func TestWhatComesBehindTheReply(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prompts, turns, own []string
	}{
		"a result":                       {[]string{"+a Done. reply =a"}, []string{"Done. a:completed"}, nil},
		"several results":                {[]string{"+a +b Done. reply =b !a"}, []string{"Done. b:completed a:failed"}, nil},
		"a result, and words":            {[]string{"+a Done. reply =a More."}, []string{"Done. More. a:completed"}, nil},
		"all words":                      {[]string{"reply 20 All of it."}, []string{"All of it."}, nil},
		"a call":                         {[]string{"reply +a =a Done."}, []string{"Done. a:completed"}, nil},
		"nothing":                        {[]string{"+a =a Done. reply"}, []string{"Done. a:completed"}, nil},
		"a late result":                  {[]string{"+a Done. reply 1000 =a"}, []string{"Done. a:canceled"}, []string{"a:completed"}},
		"a late failure":                 {[]string{"+a Done. reply 1000 !a"}, []string{"Done. a:canceled"}, []string{"a:failed"}},
		"late results":                   {[]string{"+a +b +c =c Done. reply 1000 ~a =c =a =a =b"}, []string{"Done. c:completed a:canceled b:canceled"}, []string{"a:completed b:completed"}},
		"a late result in the next turn": {[]string{"+a Done. reply 1000 =a", "Next 3000 turn. reply"}, []string{"Done. a:canceled", "Next turn. a:completed"}, nil},
		"an id that is used again":       {[]string{"+a Done. reply 1000 =a", "+a =a Next 3000 turn. reply"}, []string{"Done. a:canceled", "Next turn. a:completed"}, nil},
		"news of a call with its result": {[]string{"+a =a Done. reply 1000 ~a =a !a", "Next 3000 turn. reply"}, []string{"Done. a:completed", "Next turn."}, nil},
		"a completed call after a stop":  {[]string{"+a stop cancelled 1000 =a"}, []string{"a:canceled"}, []string{"a:completed"}},
		"a stopped call after a stop":    {[]string{"+a stop cancelled 1000 !a", "Next 3000 turn. reply"}, []string{"a:canceled", "Next turn."}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStage(t, "plain", "")
			for i, prompt := range c.prompts {
				events, _ := agenttest.TurnWhile(t, st.s, st.host, agenttest.Prompt("behind "+prompt), func(stop func(), r *agenttest.Recorder) {
					if strings.Contains(prompt, "stop") {
						agenttest.Until[trace.ToolCall](t, r)
						stop()
					}
				})
				if got := told(events); got != c.turns[i] {
					t.Errorf("turn %d tells %q, want %q", i+1, got, c.turns[i])
				}
			}
			st.own(c.own)
		})
	}
}

// A session closes a turn that a person stops, and then stops the agent.
func TestACallThatIsCompletedAfterAStopIsOnRecord(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p := agenttest.Prompt("behind +a +b stop !b =a cancelled")
	r, done := st.host.Turn(p), make(chan error, 1)
	go func() { done <- st.s.Prompt(ctx, p, r.Builder) }()
	if _, err := r.Await(t.Context(), func(e trace.Event) bool { c, _ := e.Payload.(trace.ToolCall); return c.ToolCallID == "b" }); err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := told(r.Events()); got != "a:canceled b:canceled" {
		t.Errorf("the turn tells %q", got)
	}
	st.own([]string{"a:completed"})
}

// own waits for the turns that the agent has begun, and for their ends.
func (st *stage) own(want []string) {
	st.t.Helper()
	wait := time.After(30 * time.Second)
	for len(st.host.Begun()) < len(want) {
		select {
		case <-wait:
			st.t.Fatalf("%d turns of the agent's own, want %q", len(st.host.Begun()), want)
		case <-time.After(5 * time.Millisecond):
		}
	}
	var got []string
	for _, r := range st.host.Begun() {
		select {
		case <-r.Ended():
		case <-wait:
			st.t.Fatal("a turn of the agent's own does not end")
		}
		end, _ := r.Result()
		if err := r.Finish(end); err != nil || end.Outcome != trace.OutcomeCompleted {
			st.t.Errorf("a turn of the agent's own ended as %+v, %v", end, err)
		}
		for _, call := range agenttest.Each[trace.ToolCall](r.Events()) {
			if call.Title != "Run "+call.ToolCallID || string(call.Input) != `{"command":"`+call.ToolCallID+`"}` {
				st.t.Errorf("the late call is %+v", call)
			}
		}
		got = append(got, told(r.Events()))
	}
	if !slices.Equal(got, want) {
		st.t.Errorf("the agent's own turns tell %q, want %q", got, want)
	}
}

// A turn does not wait if it has its words and its results.
func TestATurnThatIsCompleteDoesNotWait(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	quickest := time.Hour
	for range 10 {
		began := time.Now()
		st.turn(agenttest.Prompt("behind +a =a Done. reply"))
		quickest = min(quickest, time.Since(began))
	}
	if quickest > 90*time.Millisecond {
		t.Errorf("the quickest turn took %s", quickest)
	}
}

func TestAnAgentThatEndsItsTurnsTooEarlyIsWaitedFor(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	st.turn(agenttest.Prompt("behind Half reply 200 more"))
	st.own([]string{"more"})
	if _, said, _ := st.turn(agenttest.Prompt("behind Half reply more")); said != "Half more" {
		t.Errorf("the next turn says %q", said)
	}
}

// claude-agent-acp compacts an idle conversation by itself, and reads on what background commands print.
func TestAnAgentThatWorksByItselfIsNeitherSilentNorBusy(t *testing.T) {
	t.Parallel()
	st := newStage(t, "plain", "")
	st.turn(agenttest.Prompt("behind +a =a Done. reply 600 Compacting 200 ~a 200 =a"))
	st.own([]string{"Compacting"})
	if _, said, stop := st.turn(agenttest.Prompt("hello")); said != "you said: hello" || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the next turn says %q and ended as %+v", said, stop)
	}
}

// behind plays words: "reply" is the reply, a number is a pause in ms, +ID begins a call, =ID ends it, !ID lets it fail,
// ~ID is other news of it, and any other word is text.
func (f *fake) behind(words []string, reply func(any), stop chan struct{}) {
	news := func(id, status string) {
		f.update(object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": []object{{"type": "content", "content": object{"type": "text", "text": status + " " + id}}}})
	}
	f.gather(true)
	defer f.gather(false)
	for _, word := range words {
		ms, err := strconv.Atoi(word)
		switch {
		case err == nil:
			f.gather(false)
			time.Sleep(time.Duration(ms) * time.Millisecond)
			f.gather(true)
		case word == "stop":
			f.gather(false)
			<-stop
			f.gather(true)
		case word == "reply", word == "cancelled":
			reply(object{"stopReason": map[string]string{"reply": "end_turn", "cancelled": "cancelled"}[word]})
		case word[0] == '+':
			f.update(object{"sessionUpdate": "tool_call", "toolCallId": word[1:], "title": "Run " + word[1:], "kind": "execute", "status": "in_progress", "rawInput": object{"command": word[1:]}})
		case word[0] == '=':
			news(word[1:], "completed")
		case word[0] == '!':
			news(word[1:], "failed")
		case word[0] == '~':
			news(word[1:], "in_progress")
		default:
			f.text(word + " ")
		}
	}
}
