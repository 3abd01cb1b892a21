package demo_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

var update = flag.Bool("update", false, "write the golden files anew") //nolint:gochecknoglobals // a flag

// desk is a host that allows and answers.
func desk() *agenttest.Host {
	host := agenttest.NewHost()
	host.OnPermit = func(context.Context, trace.PermissionRequest) trace.PermissionResponse { return choice("allow") }
	host.OnAsk = func(context.Context, trace.Question) trace.Answer {
		return trace.Answer{Outcome: trace.Selected, Values: []string{"green"}, By: "tester"}
	}
	return host
}

func choice(option string) trace.PermissionResponse {
	return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: option, By: "tester"}
}

func ask(text string) agent.Prompt {
	return agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
}

func open(t *testing.T, host agent.Host, pace time.Duration, token string) agent.Session {
	t.Helper()
	session, err := demo.Runtime{Pace: pace}.Open(t.Context(), host, agent.Config{Resume: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

// play runs one turn and returns its events.
func play(t *testing.T, session agent.Session, host *agenttest.Host, text string) []trace.Event {
	t.Helper()
	r := host.Turn(ask(text))
	if err := session.Prompt(t.Context(), ask(text), r.Builder); err != nil {
		t.Fatalf("Prompt(%q): %v", text, err)
	}
	verdict, _ := r.Result()
	if err := r.Finish(verdict); err != nil {
		t.Fatal(err)
	}
	if c := r.Counts(); c != (trace.Counts{}) {
		t.Errorf("the Builder had to correct the demo: %+v", c)
	}
	if err := agenttest.CheckTurn(r.Events()); err != nil {
		t.Errorf("Prompt(%q): %v", text, err)
	}
	return r.Events()
}

func once(t *testing.T, text string) []trace.Event {
	t.Helper()
	host := desk()
	return play(t, open(t, host, 0, ""), host, text)
}

// inTime plays a script whose user answers one thing after the other: the ids are
// counted, and a later one takes longer.
func inTime(t *testing.T, word string) (events []trace.Event) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		host := desk()
		host.OnPermit = func(ctx context.Context, r trace.PermissionRequest) trace.PermissionResponse {
			select {
			case <-time.After(time.Duration(r.RequestID[len(r.RequestID)-1]) * time.Second):
			case <-ctx.Done():
			}
			return choice("allow")
		}
		events = play(t, open(t, host, 0, ""), host, word)
	})
	return events
}

// A golden file shows what a script writes.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, word := range []string{
		"think", "tool", "fail", "parallel", "approve", "both", "beside", "meanwhile", "twice", "withdraw",
		"ask", "freely", "several", "mixed", "usage", "plan", "file", "data",
		"subagent", "error", "unicode", "remember", "all", "hello", "help", "nothing",
		"shell", "edit", "review", "markdown", "read", "search", "fetch", "todo", "nested", "unknown", "picture", "context", "scopes", "change", "about",
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			for _, e := range inTime(t, word)[2:] { // without prompt and reply
				payload, err := trace.MarshalPayload(e.Payload)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "%s %s %s\n", e.Actor, e.Payload.Kind(), payload)
			}
			golden := filepath.Join("testdata", word+".txt")
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: run go test -update", err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s differs from %s, got:\n%s", word, golden, got.Bytes())
			}
		})
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]int{"slow": 100, "long": 2000} {
		events := once(t, word)
		if got := len(strings.Fields(agenttest.Said(events))); got != want {
			t.Errorf("%s has %d words, want %d", word, got, want)
		}
		if got := len(agenttest.Each[trace.MessageDelta](events)); got != want {
			t.Errorf("%s has %d deltas, want %d", word, got, want)
		}
	}
	var output string
	if err := json.Unmarshal(agenttest.Each[trace.ToolResult](once(t, "big"))[0].Output, &output); err != nil {
		t.Fatal(err)
	}
	if len(output) != 200<<10 {
		t.Errorf("big has an output of %d bytes", len(output))
	}
}

func TestUnicode(t *testing.T) {
	t.Parallel()
	const want = "Bytes: 😀 surrogates: 😂 a family: 👨‍👩‍👧 a flag: 🇨🇭 a skin: 👍🏽 combined: e\u0301 and o\u0308 " +
		"right to left: שלום عليكم Chinese: 漢字 and \"quotes\", \\, <b>&amp;</b>, \u2028, \t, end.\n"
	if got := agenttest.Said(once(t, "unicode")); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFileIsAPicture(t *testing.T) {
	t.Parallel()
	files := agenttest.Each[trace.File](once(t, "file"))
	encoded, ok := strings.CutPrefix(files[0].URL, "data:image/png;base64,")
	if len(files) != 1 || !ok {
		t.Fatalf("the files are %+v", files)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Errorf("the picture cannot be read: %v", err)
	}
}

func TestChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ prompt, begins string }{
		{"", "I am the demo agent and play scripts; no word of yours names one. Say help"},
		{"tools thinking slowly", "I am the demo agent"}, // whole words only
		{"tool_call", "I am the demo agent"},
		{"HELLO!", "Hello! I am"},
		{"hello, please use a tool", "I will read the file."}, // the table's order counts, not the prompt's
		{"tool? no: think", "I thought about it"},
		{"«fail»\n", "I will read a file that does not exist."},
		{"Help", "Put one of these words"},
	} {
		if got := agenttest.Said(once(t, c.prompt)); !strings.HasPrefix(got, c.begins) {
			t.Errorf("%q gives %q, want it to begin %q", c.prompt, got, c.begins)
		}
	}
}

// Each word of clock is the time at which the demo said the word.
func TestClock(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]int{"clock": 100, "The clock, 7 times": 7, "clock 0": 100, "clock 99999999": 100, "clock 10000": 10_000} {
		before := time.Now().UnixNano()
		said := strings.Fields(agenttest.Said(once(t, prompt)))
		if len(said) != want {
			t.Errorf("%q has %d words, want %d", prompt, len(said), want)
		}
		for _, word := range said {
			at, err := strconv.ParseInt(word, 10, 64)
			if err != nil || at < before || at > time.Now().UnixNano() {
				t.Fatalf("%q says %q, which is no time since it was asked (%v)", prompt, word, err)
			}
			before = at
		}
	}
}
