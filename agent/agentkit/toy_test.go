//go:build unix

package agentkit_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// TestMain lets the test binary stand in for an agent.
func TestMain(m *testing.M) {
	if how := os.Getenv("TOY_AGENT"); how != "" {
		os.Exit(toyAgent(how))
	}
	goleak.VerifyTestMain(m)
}

// message is a line of the toy protocol, in either direction.
type message struct {
	Hello  bool   `json:"hello,omitempty"`
	Prompt string `json:"prompt,omitempty"`
	Say    string `json:"say,omitempty"`
	Permit string `json:"permit,omitempty"`
	Drop   string `json:"drop,omitempty"` // withdraws a permit
	Answer string `json:"answer,omitempty"`
	Allow  bool   `json:"allow,omitempty"`
	Token  string `json:"token,omitempty"`
	Ask    int    `json:"ask,omitempty"` // is answered at once
	Stop   bool   `json:"stop,omitempty"`
	End    string `json:"end,omitempty"`
}

func line(m message) json.RawMessage {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

// toy is the protocol's pure half.
type toy struct{}

func (toy) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var l message
	if err := json.Unmarshal(m.Data, &l); err != nil {
		return nil, fmt.Errorf("toy: a line that is not JSON was skipped: %w", err)
	}
	if l.Prompt != "" {
		t.Prompted(trace.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: l.Prompt}}}})
	}
	if l.Ask > 0 {
		if m.Dir == agent.In {
			return nil, nil
		}
		return []agent.Effect{agent.Send{Data: line(message{Ask: l.Ask, Say: strings.Repeat("x", 1000)})}}, nil // more than a pipe holds
	}
	b := t.Current()
	if l.Say != "" && b == nil {
		b = t.Begin(agent.TurnInfo{Reason: "background_task"})
	}
	if b == nil {
		return nil, nil
	}
	var effects []agent.Effect
	switch {
	case strings.Contains(l.Say, "unheard of"):
		panic("no such message")
	case l.Say != "":
		b.Message("", l.Say)
	case l.Permit != "":
		id, answer, decided := b.PermissionRequest(trace.PermissionRequest{RequestID: l.Permit}, trace.ToolCall{})
		p := agent.Permit{Native: l.Permit, RequestID: id, Reply: func(r trace.PermissionResponse) json.RawMessage {
			return line(message{Answer: l.Permit, Allow: r.Allowed()})
		}}
		if decided {
			p.Decided = &answer
		}
		effects = append(effects, p)
	case l.Drop != "":
		effects = append(effects, agent.Withdraw{Native: l.Drop})
	case l.Token != "":
		effects = append(effects, agent.Resume{Token: l.Token})
	case l.End != "":
		b.End(trace.Stop{Reason: l.End, Outcome: trace.OutcomeCompleted})
	}
	return effects, nil
}

// toyProcess is the protocol of one process.
type toyProcess struct {
	toy
	conn  agentkit.Conn
	ready chan struct{}
}

func (p *toyProcess) Greet(ctx context.Context, _ string) error {
	_, err := agentkit.Await(ctx, p.conn, p.ready)
	return err
}

func (p *toyProcess) Received(data json.RawMessage) {
	var l message
	if json.Unmarshal(data, &l) == nil && l.Hello {
		close(p.ready)
	}
}

func (p *toyProcess) Prompt(_ context.Context, prompt agent.Prompt) (json.RawMessage, error) {
	if prompt.Text() == "" {
		return nil, &agentkit.PromptError{Reason: "empty_prompt", Sentence: "The prompt is empty."}
	}
	return line(message{Prompt: prompt.Text()}), nil
}

func (p *toyProcess) Stop() json.RawMessage { return line(message{Stop: true}) }

// Relocate goes on without a memory.
func (p *toyProcess) Relocate(resume, stderr string) (string, trace.Error, bool) {
	return "", trace.Error{Code: "session_lost", Message: "The toy starts without memory."}, resume != "" && strings.Contains(stderr, "no such place")
}

// asks is how often a toy asks that floods.
const asks = 5000

// flood asks often. It reads the answers when it has asked for all of them or can write no more, or
// never.
func flood(reads bool, in *bufio.Reader) {
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		for n := range asks {
			fmt.Println(string(line(message{Ask: n + 1})))
		}
	}()
	if !reads {
		time.Sleep(time.Minute)
	}
	select {
	case <-asked:
	case <-time.After(500 * time.Millisecond):
	}
	missing := asks * (asks + 1) / 2
	for missing > 0 {
		var m message
		data, err := in.ReadBytes('\n')
		if err != nil || json.Unmarshal(data, &m) != nil {
			os.Exit(1)
		}
		missing -= m.Ask
	}
	<-asked
}

// toyAgent is the life of a toy agent.
func toyAgent(how string) int {
	say := func(all ...message) {
		for _, m := range all {
			fmt.Println(string(line(m)))
		}
	}
	switch how {
	case "broken":
		fmt.Fprintln(os.Stderr, "the config file is broken")
		return 3
	case "mute":
		signal.Ignore(syscall.SIGTERM)
		time.Sleep(time.Minute)
	}
	switch how {
	case "chats":
		fmt.Print("Hello.\n\nI am\na program\nfor\npeople.\n")
		time.Sleep(time.Minute)
	case "parrot":
		fmt.Println(`{"jsonrpc":"2.0"}`)
		time.Sleep(time.Minute)
	case "greets":
		fmt.Print("Hello.\nLoading the\nmodels …\n")
		time.Sleep(100 * time.Millisecond)
		fmt.Println(`{"level":"info"}`)
	}
	if len(os.Args) > 1 && os.Args[1] == "lost" {
		fmt.Fprintln(os.Stderr, "no such place")
		return 1
	}
	say(message{Say: "a word before the agent is ready"}, message{Hello: true})
	in := bufio.NewReader(os.Stdin)
	once, stopped := os.Getenv("TOY_ONCE"), false
	for {
		data, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m message
		_ = json.Unmarshal(data, &m)
		switch {
		case m.Prompt == "die unheard":
			if _, err := os.Stat(once); errors.Is(err, os.ErrNotExist) {
				_ = os.WriteFile(once, nil, 0o600)
				return 0
			}
			say(message{Say: "heard"}, message{End: "done"})
		case m.Prompt == "die late":
			time.Sleep(1200 * time.Millisecond)
			return 0
		case m.Prompt == "noise":
			for i, noise := range []string{
				"[warn] slow disk ", "\x1b[2K\r", "50 % {done} ", `"a text" `, `{"level":"info"}`, `{"level":"info"} - `, `{ {"a":{"b": `, "\xff\xfe", strings.Repeat("{", 100_000),
			} {
				fmt.Println(noise + string(line(message{Say: fmt.Sprint("in front ", i)})))
			}
			fmt.Println(string(line(message{Say: "behind"})) + " and more {")
			fmt.Println(string(line(message{Say: "one of two"})) + string(line(message{Say: "two of two"})))
			fmt.Println(`{"say":"a broken \message","input":{"say":"forged"},"more":[{"say":"forged"}]}`)
			fmt.Println(strings.Repeat(`{"a":`, 100_000))
			say(message{End: "done"})
		case m.Prompt == "die":
			say(message{Say: "a last word"})
			fmt.Fprintln(os.Stderr, "out of memory")
			return 9
		case m.Prompt == "permit", m.Prompt == "wait":
			say(message{Permit: "p1"})
		case m.Prompt == "withdraw":
			say(message{Permit: "p1"}, message{Drop: "p1"})
			time.Sleep(50 * time.Millisecond)
			say(message{End: "done"})
		case m.Prompt == "deaf":
			say(message{Say: "working"})
			signal.Ignore(syscall.SIGTERM)
			time.Sleep(time.Minute)
		case strings.HasPrefix(m.Prompt, "flood"):
			if m.Prompt == "flood after the turn" {
				say(message{End: "done"})
			}
			flood(m.Prompt == "flood slowly", in)
			say(message{Say: "I have all answers."}, message{End: "done"})
		case m.Prompt == "background":
			say(message{Token: "t1"}, message{Say: "done"}, message{End: "done"}, message{Say: "by the way"}, message{End: "done"})
		case m.Prompt != "":
			say(message{Say: "You said: " + m.Prompt}, message{End: "done"})
		case m.Answer != "":
			say(message{Say: fmt.Sprintf("%s: %v", m.Answer, m.Allow)})
			say(message{End: "answered"})
		case m.Stop && os.Getenv("TOY_PATIENT") != "" && !stopped:
			stopped = true // it waits for the answer to its request, or for the next stop
		case m.Stop:
			say(message{End: "stopped by the toy"})
		}
	}
}
