package uistream_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// turnsThatGrow are turns of which everything there is may be many. Each makes n
// of something.
var turnsThatGrow = map[string]func(put func(...trace.Payload), n int){
	"files": func(put func(...trace.Payload), n int) {
		for i := range 2 * n {
			put(trace.FileChange{Path: fmt.Sprint("dir/file", i%n)})
		}
	},
	"texts": func(put func(...trace.Payload), n int) {
		for i := range n {
			put(trace.MessageStart{Part: fmt.Sprint("part", i), Role: trace.RoleAssistant})
		}
		for i := range n {
			put(trace.Message{Part: fmt.Sprint("part", i), Role: trace.RoleAssistant, Text: "some text"})
		}
	},
	"calls of one step": func(put func(...trace.Payload), n int) {
		for i := range n {
			put(trace.ToolCallStart{ToolCallID: fmt.Sprint("call", i), Name: "bash"})
		}
		for i := range n {
			put(trace.ToolCall{ToolCallID: fmt.Sprint("call", i), Name: "bash", Input: json.RawMessage(`{}`)})
		}
		for i := range n {
			put(trace.ToolResult{ToolCallID: fmt.Sprint("call", i), Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)})
		}
	},
	"calls of many steps": func(put func(...trace.Payload), n int) {
		for i := range n {
			put(
				trace.Step{Phase: trace.PhaseStart}, trace.ToolCall{ToolCallID: fmt.Sprint("call", i), Name: "bash", Input: json.RawMessage(`{}`)}, trace.Step{Phase: trace.PhaseEnd},
			)
		}
		for i := range n {
			put(trace.ToolResult{ToolCallID: fmt.Sprint("call", i), Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)})
		}
	},
	"permissions": func(put func(...trace.Payload), n int) {
		for i := range n {
			call, request := fmt.Sprint("call", i), fmt.Sprint("request", i)
			put(
				trace.ToolCall{ToolCallID: call, Name: "bash", Input: json.RawMessage(`{}`)},
				trace.PermissionRequest{RequestID: request, ToolCallID: call, Title: "Run?", Options: []trace.PermissionOption{{ID: "yes", OptionKind: trace.AllowOnce}}},
				trace.Pause{Requests: []string{request}},
				trace.PermissionResponse{RequestID: request, Outcome: trace.Selected, ChosenOption: "yes", OptionKind: trace.AllowOnce, By: "ada"},
				trace.ToolResult{ToolCallID: call, Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)},
			)
		}
	},
	"permissions while a call is written": func(put func(...trace.Payload), n int) {
		for i := range n {
			request := fmt.Sprint("request", i)
			put(
				trace.ToolCallStart{ToolCallID: fmt.Sprint("call", i), Name: "bash"},
				trace.PermissionRequest{RequestID: request, Title: "Run?"},
				trace.Pause{Requests: []string{request}},
				trace.PermissionResponse{RequestID: request, Outcome: trace.Selected, ChosenOption: "yes", By: "ada"},
			)
		}
	},
	"questions in many messages": func(put func(...trace.Payload), n int) {
		for i := range n {
			question := fmt.Sprint("question", i)
			put(
				trace.Question{QuestionID: question, Text: "Which?"}, trace.Pause{Requests: []string{question}},
				trace.Answer{QuestionID: question, Outcome: trace.Selected, Values: []string{"this"}, By: "ada"},
				trace.Reply{MessageID: fmt.Sprint("m", i), Cause: trace.CauseAnswer},
			)
		}
	},
	"metadata": func(put func(...trace.Payload), n int) {
		for i := range n {
			for _, value := range []string{`{"k%d":"%s"}`, `{"nested":{"k%d":"%s"}}`} {
				value = fmt.Sprintf(value, i, strings.Repeat("x", 1000))
				put(beyond(uistream.Other{Name: "message-metadata", Keys: uistream.Keys{"messageMetadata": json.RawMessage(value)}}))
			}
		}
	},
	"calls in many messages": func(put func(...trace.Payload), n int) {
		for i := range n {
			call := fmt.Sprint("call", i)
			put(
				trace.ToolCall{ToolCallID: call, Name: "bash", Input: json.RawMessage(`{}`)},
				trace.ToolResult{ToolCallID: call, Status: trace.ToolCompleted, Output: json.RawMessage(`{}`)},
				trace.Reply{MessageID: fmt.Sprint("m", i), Cause: trace.CauseSteer},
			)
		}
	},
}

// beyond is a chunk of an upstream as data.
func beyond(c uistream.Chunk) trace.Data {
	d, _ := uistream.Beyond(c)
	return d
}

// readersOfTurns are who has to do with a turn from its start to its end.
var readersOfTurns = map[string]func([]trace.Record) error{
	"history": func(records []trace.Record) error {
		_, err := uistream.History(seq(records), uistream.Options{})
		return err
	},
	"stream":            func(records []trace.Record) error { translate(uistream.Options{}, records); return nil },
	"stream by the RFC": func(records []trace.Record) error { translate(uistream.Options{RFC: true}, records); return nil },
}

// workOf is in the environment of a test that does the work and is counted: a reader, a
// turn, and how long that is.
const workOf = "TRIBUTARY_TEST_WORK_OF"

// TestTimeGrowsWithTheTurn makes messages and chunks of turns of which one is eight
// times as long as the other. Quadratic work would be 64 times as much. The test counts the runs of
// each statement of the package, and the allocated bytes: a clock would measure the machine. The
// searches of the package call closures, so their steps count as well.
func TestTimeGrowsWithTheTurn(t *testing.T) {
	if of := os.Getenv(workOf); of != "" {
		work(t, of)
		return
	}
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	program := filepath.Join(t.TempDir(), "work.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-covermode=count", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for reader := range readersOfTurns {
		for what := range turnsThatGrow {
			steps, bytes := count(t, program, reader, what, 100)
			moreSteps, moreBytes := count(t, program, reader, what, 800)
			if steps < 1000 || moreSteps > 12*steps || moreBytes > 16*bytes {
				t.Errorf("%s of %s: 8 times the turn takes %d steps instead of %d, and %d bytes instead of %d", reader, what, moreSteps, steps, moreBytes, bytes)
			}
		}
	}
}

// work reads a turn, and tells how many bytes that allocated.
func work(t *testing.T, of string) {
	t.Helper()
	named := strings.Split(of, "/")
	n, err := strconv.Atoi(named[2])
	if err != nil {
		t.Fatal(err)
	}
	all := []trace.Payload{trace.Prompt{Message: trace.UserMessage{ID: "u"}}, trace.Reply{MessageID: "m"}}
	turnsThatGrow[named[1]](func(p ...trace.Payload) { all = append(all, p...) }, n)
	records := rec(trace.Agent, append(all, trace.Stop{Outcome: trace.OutcomeCompleted})...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := readersOfTurns[named[0]](records); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	fmt.Printf("allocated %d\n", after.TotalAlloc-before.TotalAlloc)
}

// count runs the program, and tells how many statements and bytes its work took.
func count(t *testing.T, program, reader, what string, n int) (steps, bytes int) {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile")
	run := exec.CommandContext(t.Context(), program, "-test.run=^TestTimeGrowsWithTheTurn$", "-test.coverprofile="+profile)
	run.Env = append(os.Environ(), fmt.Sprintf("%s=%s/%s/%d", workOf, reader, what, n))
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := fmt.Sscanf(string(out), "allocated %d", &bytes); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		var statements, times int
		if _, numbers, ok := strings.Cut(line, " "); ok {
			if _, err := fmt.Sscan(numbers, &statements, &times); err == nil {
				steps += statements * times
			}
		}
	}
	return steps, bytes
}
