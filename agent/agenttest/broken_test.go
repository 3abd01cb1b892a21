package agenttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// flaw is what is wrong with an agent.
type flaw string

// The flaws, and the test that has to find each.
func flaws() map[flaw]string {
	return map[flaw]string{
		"silent about its end":      "one_turn",
		"mute":                      "one_turn",
		"talks after its turn":      "one_turn",
		"leaks a goroutine":         "one_turn",
		"fails the second turn":     "two_turns",
		"breaks characters":         "unicode_prompt",
		"fails to close":            "close_twice",
		"closes once only":          "close_twice",
		"lives on after close":      "prompt_after_close",
		"deaf to cancel":            "cancel",
		"calls canceled completed":  "cancel",
		"dead after cancel":         "cancel",
		"closes slowly":             "close_during_prompt",
		"runs what is denied":       "permission_denied",
		"denies what is allowed":    "permission_allowed",
		"never asks for permission": "permission_allowed",
		"never asks":                "question",
		"mentions a file outside":   "question",
		"has no token":              "resume",
		"forgets":                   "resume",
		"does not go back":          "rewind",

		"waits for its own id":           "permission_allowed",
		"asks beside the policy":         "policy_allows",
		"does what the policy denies":    "policy_denies",
		"runs it and says it was denied": "permission_denied",
		"says it ran and did not":        "permission_allowed",
		"tells its past":                 "resume",
		"begins its past":                "resume",
		"cannot be steered":              "steer",
		"hangs when its process dies":    "die",
		"calls death the end":            "die",
		"stays dead":                     "die",
		"waits for the other half":       "half_a_message",
		"ends with garbage":              "garbage",
		"hides what is beside garbage":   "garbage",
		"hangs on a huge message":        "huge_message",
		"has no workspace":               "further_turns",
		"hangs when it is cut":           "die_at_every_point",
		"says nothing of its death":      "die_at_every_point",
		"loses what its end has told":    "die_at_every_point",
		"hides what was lost":            "die_at_every_point",
		"dies for good":                  "die_at_every_point",
		"says too little to be cut":      "die_at_every_point",
		"has no prompt for garbage":      "garbage",
		"has another input judged":       "permission_allowed",
		"answers the question itself":    "question",
		"overhears the permission":       "recording_of_a_permission",
		"overhears the answer":           "recording_of_a_question",
	}
}

const brokenEnv = "AGENTTEST_BROKEN"

// textOnly, in the environment, makes TestBroken a suite without a flaw that asks for text only.
const textOnly = "asks for text only"

// The suite finds every flaw, and nothing in the agent without one. It fails as
// a suite does, so it runs in a process of its own.
func TestSuiteFindsFlaws(t *testing.T) {
	t.Parallel()
	for f, finds := range flaws() {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBroken$/^"+finds+"$", "-test.v")
			cmd.Env = append(os.Environ(), brokenEnv+"="+string(f))
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestBroken/"+finds) {
				t.Errorf("%s passed an agent that %s: %v\n%s", finds, f, err, out)
			}
		})
	}
}

// A prompt that never ends would cost its time in every test. The suite ends with the first.
func TestThePromptThatNeverEndsStopsTheSuite(t *testing.T) {
	t.Parallel()
	out := suite(t, "^TestBroken$", brokenEnv+"=never ends a prompt")
	if n := strings.Count(out, "Prompt did not return within"); n != 2 || !strings.Contains(out, `the suite stops before "two turns"`) || strings.Contains(out, "TestBroken/two_turns") {
		t.Errorf("%d sentences:\n%s", n, out)
	}
}

// TestBroken passes with the agent that has no flaw.
func TestBroken(t *testing.T) {
	bound := 10 * time.Second
	if os.Getenv(brokenEnv) != "" {
		bound = 500 * time.Millisecond // what hangs, hangs for good
	}
	var open *runtime
	suite := agenttest.Suite{
		Open: func(testing.TB) agent.Runtime {
			open = &runtime{flaw: flaw(os.Getenv(brokenEnv))}
			return open
		},
		Cut: func(_ testing.TB, c *agenttest.Cut) agent.Runtime {
			return &runtime{flaw: flaw(os.Getenv(brokenEnv)), cut: c}
		},
		Runs: func(testing.TB, []trace.Event) json.RawMessage {
			if !open.ran {
				return nil
			}
			return json.RawMessage(ranInput)
		},
		Decoder: func() agent.Decoder { return &decoder{flaw: flaw(os.Getenv(brokenEnv))} },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "text", agenttest.Slow: "slow", agenttest.Permission: "permission",
			agenttest.Question: "question", agenttest.Tell: "the word is rain", agenttest.Recall: "recall",
			agenttest.Steer: "now say rain", agenttest.Die: "die", agenttest.Garbage: "garbage", agenttest.Half: "half", agenttest.Huge: "huge",
			agenttest.Rich: "rich",
		},
		Word: "rain", Turns: []string{"background", "write"}, Bound: bound,
	}
	switch os.Getenv(brokenEnv) {
	case "has no prompt for garbage":
		delete(suite.Prompts, agenttest.Garbage)
	case textOnly:
		suite.Prompts = map[agenttest.Ability]string{agenttest.Text: "text"}
	}
	agenttest.Run(t, suite)
}

type runtime struct {
	flaw   flaw
	cut    *agenttest.Cut
	dead   bool
	ran    bool   // the tool has
	newest string // what an agent knows that does not go back
}

func (r *runtime) Rewinds(string) bool { return true }

func (r *runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if r.dead {
		return nil, errors.New("dead")
	}
	memory := cfg.Resume
	if r.flaw == "does not go back" {
		memory = r.newest
	}
	s := &session{runtime: r, host: host, tap: cfg.Tap, memory: memory, closed: make(chan struct{}), words: make(chan string, 1)}
	if cfg.Resume != "" {
		s.past = "I shall remember."
		if s.has("begins its past") {
			b := host.Begin(agent.TurnInfo{Reason: "history"})
			b.Message("k", s.past)
			b.End(trace.Stop{Outcome: trace.OutcomeCompleted})
		}
	}
	return s, nil
}

func (s *session) Controls() agent.Controls { return agent.Controls{Steer: s.steer} }

func (s *session) steer(_ context.Context, p agent.Prompt) error {
	if !s.has("cannot be steered") {
		s.words <- p.Text()
	}
	return nil
}

type session struct {
	*runtime
	host   agent.Host
	tap    func(agent.Message)
	memory string
	past   string
	words  chan string
	turns  int
	last   *trace.Builder
	busy   sync.Mutex
	once   sync.Once
	closed chan struct{}
}

func (s *session) has(f flaw) bool { return s.flaw == f }

func (s *session) Close() error {
	first := false
	s.once.Do(func() { first = true; close(s.closed) })
	if s.has("fails to close") || s.has("closes once only") && !first {
		return errors.New("cannot close")
	}
	if s.has("closes slowly") {
		select {}
	}
	s.busy.Lock()
	defer s.busy.Unlock()
	if first && s.last != nil && s.has("talks after its turn") {
		s.last.MessageDelta("late", "by the way")
	}
	return nil
}

func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.busy.Lock()
	defer s.busy.Unlock()
	select {
	case <-s.closed:
		if !s.has("lives on after close") {
			return errors.New("closed")
		}
	default:
	}
	s.turns++
	s.last = b
	if s.dead || s.turns == 2 && s.has("fails the second turn") {
		return errors.New("out of turns")
	}
	if s.has("leaks a goroutine") {
		go func() { select {} }()
	}
	s.note(agent.In, "prompt")
	outcome := s.play(ctx, p.Text(), b)
	s.note(agent.Out, "end")
	if ctx.Err() != nil && !s.has("calls canceled completed") {
		outcome = trace.OutcomeCanceled
		s.dead = s.has("dead after cancel")
		s.memory = ""
	}
	if !s.has("silent about its end") {
		stop := trace.Stop{Reason: "x", Outcome: outcome, Error: "as it was asked to"}
		if s.has("says nothing of its death") {
			stop.Error = ""
		}
		b.End(stop)
	}
	return nil
}

func (s *session) play(ctx context.Context, prompt string, b *trace.Builder) trace.Outcome {
	switch prompt {
	case "slow":
		b.MessageDelta("k", "well")
		canceled := ctx.Done()
		if s.has("deaf to cancel") {
			canceled = nil
		}
		select {
		case <-canceled:
		case words := <-s.words:
			b.Message("steered", words)
		case <-s.closed:
			return trace.OutcomeCanceled
		}
	case "die", "half", "huge", "garbage":
		return s.fault(prompt, b)
	case "rich":
		return s.rich(ctx, b)
	case "write":
		if err := s.host.Files().WriteFile("a.txt", []byte("x")); err != nil || s.has("has no workspace") {
			return trace.OutcomeCanceled
		}
	case "permission":
		s.permission(ctx, b)
	case "question":
		if !s.has("never asks") {
			s.note(agent.Out, "question")
			answer, err := s.host.Ask(ctx, b.Question(colour()))
			if err != nil || answer.Outcome != trace.Selected {
				return trace.OutcomeFailed
			}
			word := answer.Values[0]
			if !s.has("mentions a file outside") {
				word = strings.Replace(word, "@/", "@ /", 1)
			}
			s.note(agent.In, word)
			if s.has("answers the question itself") {
				word = "Blue"
			}
			b.Message("k", word)
			s.note(agent.Out, "say "+word)
		}
	case "recall":
		if s.has("tells its past") && s.past != "" {
			b.Message("past", s.past)
		}
		b.Message("k", "the word: "+s.memory)
	case "background":
		other := s.host.Begin(agent.TurnInfo{Reason: "background"})
		other.Message("k", "meanwhile")
		other.End(trace.Stop{Reason: "x", Outcome: trace.OutcomeCompleted})
	default:
		s.remember(prompt)
		if s.has("breaks characters") {
			prompt += "\uFFFD"
		}
		switch {
		case s.has("mute"):
		case strings.HasPrefix(prompt, "the word"):
			b.Message("k", "I shall remember.")
		default:
			b.Message("k", prompt)
		}
		if s.has("never ends a prompt") {
			<-s.closed
		}
	}
	return trace.OutcomeCompleted
}

func (s *session) remember(prompt string) {
	s.memory = prompt
	if s.has("has no token") {
		return
	}
	if s.has("forgets") {
		prompt = "x"
	}
	s.newest = prompt
	s.host.Resume(prompt)
}

// rich plays the turn that is cut. Its messages are the steps.
func (s *session) rich(ctx context.Context, b *trace.Builder) trace.Outcome {
	for i, step := range []func(){
		func() { b.Thought("h", "I need a tool.", "") },
		func() { b.Message("k", "I will use a tool.") },
		func() { s.permission(ctx, b) },
		func() { b.Message("l", "Done.") },
	} {
		if s.has("says too little to be cut") && i == 0 {
			continue
		}
		sent, dies := s.cut.Pass([]byte("step"))
		if !dies || len(sent) == len("step") {
			step()
		}
		switch end := dies && i == 3 && len(sent) == len("step"); {
		case !dies, end && !s.has("loses what its end has told"):
		case s.has("hangs when it is cut"):
			<-s.closed
		case s.has("hides what was lost"):
			return trace.OutcomeCompleted
		default:
			s.dead = s.has("dies for good")
			return trace.OutcomeFailed
		}
	}
	return trace.OutcomeCompleted
}

// fault plays what goes wrong with a process.
func (s *session) fault(prompt string, b *trace.Builder) trace.Outcome {
	switch {
	case s.has("hangs when its process dies"), s.has("waits for the other half") && prompt == "half", s.has("hangs on a huge message") && prompt == "huge":
		<-s.closed
	case s.has("calls death the end"), s.has("ends with garbage"):
		if prompt == "garbage" {
			return trace.OutcomeFailed
		}
		return trace.OutcomeCompleted
	case s.has("stays dead"):
		s.dead = true
	}
	if prompt == "huge" || prompt == "garbage" {
		if !s.has("hides what is beside garbage") {
			b.Message("k", "Still here.")
		}
		return trace.OutcomeCompleted
	}
	return trace.OutcomeFailed
}

// ranInput is the input with which the tool runs.
const ranInput = `{"command":"ls"}`

func permissionRequest() (trace.ToolCall, trace.PermissionRequest) {
	return trace.ToolCall{ToolCallID: "c", RawName: "shell", Input: json.RawMessage(ranInput)}, trace.PermissionRequest{RequestID: "p", ToolCallID: "c", Options: []trace.PermissionOption{
		{ID: "1", OptionKind: trace.AllowOnce}, {ID: "2", OptionKind: trace.RejectOnce},
	}}
}

func colour() trace.Question {
	return trace.Question{QuestionID: "q", Text: "Which?", Choices: []trace.Choice{{Label: "Red"}, {Label: "Blue"}}}
}

func (s *session) permission(ctx context.Context, b *trace.Builder) {
	call, request := permissionRequest()
	b.ToolCall(call)
	s.note(agent.Out, "permission")
	allowed := true
	if !s.has("never asks for permission") {
		judged := call
		if s.has("has another input judged") {
			judged.Input = json.RawMessage(`{"command":"true"}`)
		}
		id, answer, decided := b.PermissionRequest(request, judged)
		if s.has("waits for its own id") {
			id = "p"
		}
		if !decided || s.has("asks beside the policy") {
			var err error
			if answer, err = s.host.Permit(ctx, id); err != nil {
				answer = trace.PermissionResponse{}
			}
		}
		allowed = answer.Allowed() || decided && s.has("does what the policy denies")
	}
	allowed = allowed && !s.has("denies what is allowed") || s.has("runs what is denied")
	s.ran = allowed && !s.has("says it ran and did not") || s.has("runs it and says it was denied")
	if !allowed {
		s.note(agent.In, "no")
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolDenied})
		return
	}
	s.note(agent.In, "yes")
	b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted})
}

// note writes a word of the protocol that the agent would speak if it were a process.
func (s *session) note(dir agent.Dir, word string) {
	if data, err := json.Marshal(word); err == nil && s.tap != nil {
		s.tap(agent.Message{Dir: dir, Data: data})
	}
}

// decoder reads that protocol.
type decoder struct {
	flaw
	open string // what waits for an answer
}

func (d *decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var word string
	if err := json.Unmarshal(m.Data, &word); err != nil {
		return nil, err
	}
	if m.Dir == agent.In && word == "prompt" {
		t.Prompted(trace.Prompt{})
		return nil, nil
	}
	b := t.Current()
	said, says := strings.CutPrefix(word, "say ")
	switch {
	case m.Dir == agent.In && d.open == "permission":
		answer := trace.PermissionResponse{RequestID: "p", Outcome: trace.Selected, ChosenOption: map[string]string{"yes": "1", "no": "2"}[word]}
		if d.flaw != "overhears the permission" {
			b.PermissionResponse(answer)
		}
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: map[string]trace.ToolStatus{"yes": trace.ToolCompleted, "no": trace.ToolDenied}[word]})
	case m.Dir == agent.In && d.flaw != "overhears the answer":
		b.Answer(trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{word}})
	case word == "permission":
		call, request := permissionRequest()
		b.ToolCall(call)
		b.PermissionRequest(request, call)
	case word == "question":
		b.Question(colour())
	case says:
		b.Message("k", said)
	case word == "end":
		b.End(trace.Stop{Reason: "x", Outcome: trace.OutcomeCompleted})
	}
	if m.Dir == agent.Out {
		d.open = word
	}
	return nil, nil
}
