package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// records reads the JSON lines of a trace.
func records(t *testing.T, text string) []trace.Record {
	t.Helper()
	var all []trace.Record
	for line := range strings.Lines(text) {
		var r trace.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

func TestRun(t *testing.T) {
	t.Parallel()
	cwd := t.TempDir()
	conf := file(t, "tributary.yaml", "agents: {echo: {}, demo: {options: {pace: 0s}}, free: {adapter: demo, options: {pace: 0s}, policy: {rules: [{then: allow}]}}}")
	for name, c := range map[string]struct {
		status    int
		stdin     string
		args      []string
		out, errs string
	}{
		"text":            {0, "", []string{"hello"}, "Hello! I am the demo agent, and I have no model. Say help to see what I can play.\n", ""},
		"echo":            {0, "", []string{"--agent", "echo", "to be or not"}, "to be or not\n", ""},
		"standard input":  {0, "from far away\n", []string{"--agent", "echo", "-"}, "from far away\n", ""},
		"two parts":       {0, "", []string{"tool"}, "I will read the file.\nThe file says: Hello from the demo.\n", ""},
		"failed":          {1, "", []string{"error"}, "This goes well so far,", "tributary: The demo agent failed, as it was asked to.\n"},
		"denied":          {0, "", []string{"approve"}, "I did not run the command", "tributary: denied, since nobody is there to ask: Run echo hello\n"},
		"allowed":         {0, "", []string{"--agent", "free", "approve"}, "I was allowed to run it: echo hello", ""},
		"question":        {0, "", []string{"ask"}, "Nobody answered, so I take no colour.", "tributary: not answered, since nobody is there to ask: Which colour?\n"},
		"sub-agent":       {0, "", []string{"subagent"}, "I will hand this to a sub-agent.\nMy sub-agent found that the file says hello.\n", ""},
		"no prompt":       {2, "", nil, "", "the prompt is missing"},
		"empty prompt":    {2, "", []string{" "}, "", "the prompt is empty: say what the agent is to do"},
		"empty input":     {2, "\n", []string{"-"}, "", "the prompt is empty: say what the agent is to do"},
		"unknown agent":   {2, "", []string{"--agent", "x", "hi"}, "", `there is no agent "x": there are demo, echo, free`},
		"agent not there": {1, "", []string{"--agent", "lost", "hi", "--config", file(t, "t.yaml", "agents: {lost: {adapter: claude, command: /no/such/program}}")}, "", "/no/such/program was not found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command(t, c.stdin, append([]string{"run", "--config", conf, "--cwd", cwd}, c.args...)...)
			r.want(t, c.status, c.errs)
			if !strings.Contains(r.out, c.out) || c.out == "" && r.out != "" {
				t.Errorf("printed %q, want %q", r.out, c.out)
			}
		})
	}
	if entries, err := os.ReadDir(cwd); err != nil || len(entries) > 0 {
		t.Errorf("something was left behind: %v, %v", entries, err)
	}
}

// A program that runs tributary in a span of its own finds the turn below it.
func TestRunHasTheTraceContextOfItsEnvironment(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for given, want := range map[string]string{parent: parent, parent + "-more": "", "": ""} {
		t.Setenv("TRACEPARENT", given)
		r := command(t, "", "run", "--json", "--agent", "echo", "hello")
		r.want(t, exitOK, "")
		for _, r := range records(t, r.out) {
			if p, is := r.Payload.(trace.Prompt); is && p.Traceparent != want {
				t.Errorf("%q is on record as %q", given, p.Traceparent)
			}
		}
	}
}

func TestRunJSON(t *testing.T) {
	t.Parallel()
	r := command(t, "", "run", "--json", "--agent", "echo", "one two")
	r.want(t, exitOK, "")
	all := records(t, r.out)
	var kinds []trace.Kind
	for _, r := range all {
		if !trace.Ephemeral(r.Payload) {
			kinds = append(kinds, r.Payload.Kind())
		}
	}
	want := []trace.Kind{"prompt", "reply", "data", "step", "message.start", "message", "step", "stop"}
	if d := cmp.Diff(want, kinds); d != "" {
		t.Error(d)
	}
	if stop, ok := all[len(all)-1].Payload.(trace.Stop); !ok || stop.FinalOutput != "one two" || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("ends with %+v", all[len(all)-1])
	}
}

// The trace says which agent and model it is of, before the turn ends, also if the agent cannot start.
func TestRunSaysWhichAgentItIsOf(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "agents: {mine: {adapter: demo, options: {pace: 0s}}, lost: {adapter: claude, command: /no/such/program}, gone: {adapter: command, command: /no/such/program}}")
	for name, c := range map[string]struct {
		status int
		want   trace.AgentInfo
		class  trace.Class
	}{
		"mine": {exitOK, trace.AgentInfo{Name: "mine", Adapter: "demo", Product: "demo", Model: "demo"}, ""},
		"lost": {exitFailed, trace.AgentInfo{Name: "lost", Adapter: "claude"}, trace.ClassGateway},
		"gone": {exitFailed, trace.AgentInfo{Name: "gone", Adapter: "command"}, trace.ClassGateway},
	} {
		r := command(t, "", "run", "--json", "--config", conf, "--agent", name, "hello")
		if r.status != c.status {
			t.Errorf("%s: exit status %d: %s", name, r.status, r.errors)
		}
		all, _ := infos(t, r.out)
		if diff := cmp.Diff([]trace.AgentInfo{c.want}, all); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		records := records(t, r.out)
		if stop, _ := records[len(records)-1].Payload.(trace.Stop); stop.Class != c.class || stop.Infrastructure() != (c.class != "") {
			t.Errorf("%s ended as %+v", name, stop)
		}
	}
}

// TestRunInterrupted stops a turn that would take ten seconds.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal, 1)
	var out, errs output
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, signals: signals}
	ended := make(chan int)
	go func() { ended <- p.main(t.Context(), []string{"run", "--json", "slow"}) }()
	for !strings.Contains(out.String(), `"message.delta"`) {
		time.Sleep(time.Millisecond)
	}
	signals <- os.Interrupt
	if status := <-ended; status != exitCanceled || errs.String() != "" {
		t.Errorf("exit status %d: %s", status, errs.String())
	}
	all := records(t, out.String())
	if stop, ok := all[len(all)-1].Payload.(trace.Stop); !ok || stop.Outcome != trace.OutcomeCanceled {
		t.Errorf("ends with %+v", all[len(all)-1])
	}
}

func TestRunCannotWrite(t *testing.T) {
	t.Parallel()
	var errs output
	p := &program{stdout: writerFunc(func([]byte) (int, error) { return 0, os.ErrClosed }), stderr: &errs}
	if status := p.main(t.Context(), []string{"run", "hello"}); status != exitFailed {
		t.Errorf("exit status %d", status)
	}
	p = &program{stdin: iotest.ErrReader(os.ErrPermission), stdout: &output{}, stderr: &errs}
	if status := p.main(t.Context(), []string{"run", "-"}); status != exitFailed || !strings.Contains(errs.String(), "the prompt cannot be read from standard input") {
		t.Errorf("exit status %d: %s", status, errs.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A reader of the trace must not take the answers that nobody gave for those of a person.
func TestNobodyIsNotAPerson(t *testing.T) {
	t.Parallel()
	r := command(t, "", "run", "--json", "mixed")
	r.want(t, exitOK, "tributary: denied, since nobody is there to ask: Run echo two")
	permissions, questions := 0, 0
	for _, r := range records(t, r.out) {
		switch p := r.Payload.(type) {
		case trace.PermissionResponse:
			permissions++
			if r.Actor != trace.Gateway || p.By != "nobody" || p.Outcome != trace.Selected || p.Allowed() || p.Reason != "nobody is there to ask" || p.Via != "" {
				t.Errorf("by %s: %+v", r.Actor, p)
			}
		case trace.Answer:
			questions++
			if r.Actor != trace.Gateway || p.By != "nobody" || p.Outcome != trace.Expired || len(p.Values) != 0 || p.Reason == "" || p.Via != "" {
				t.Errorf("by %s: %+v", r.Actor, p)
			}
		}
	}
	if permissions != 2 || questions != 1 {
		t.Errorf("%d permissions and %d questions", permissions, questions)
	}
}

// A program without streams gets the null device, under the names of its streams. Nobody is there.
func TestTheNullDeviceIsNoTerminal(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "stdin")
	if err := os.Symlink(os.DevNull, name); err != nil {
		t.Skip("there are no links here")
	}
	for _, name := range []string{os.DevNull, name} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if isTerminal(f) {
			t.Errorf("%s counts as a terminal", name)
		}
		f.Close()
	}
}

// TestAsked answers at a terminal.
func TestAsked(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"y\n": "I was allowed to run it", "n\n": "I did not run the command", "\nwhat?\n9\n2\n": "I am always allowed to run it", "": "I did not run the command",
	} {
		if text, asked := terminalTurn(t, "approve", typed); !strings.Contains(text, want) || !strings.Contains(asked, "May the agent do this? Run echo hello\n  {\n    \"command\": \"echo hello\"\n  }\n  1  Allow\n  2  Always allow\n  3  Deny\n") {
			t.Errorf("%q: %s\n%s", typed, text, asked)
		}
	}
	text, asked := terminalTurn(t, "ask", "1\n")
	if !strings.Contains(asked, "  1  ") || !strings.Contains(text, "You chose red.") {
		t.Errorf("%s\n%s", text, asked)
	}
}

func terminalTurn(t *testing.T, prompt, typed string) (text, asked string) {
	t.Helper()
	conf := file(t, "tributary.yaml", "agents: {demo: {options: {pace: 0s}}}")
	cfg, err := load(builtIn(), conf, flags{cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var out, notes output
	r := &runCommand{Prompt: prompt}
	p := &program{stdin: strings.NewReader(typed), stdout: &out, stderr: &notes}
	person := &asker{out: &notes, in: p.stdin, there: true}
	if err := r.turn(t.Context(), cfg, prompt, p, person); err != nil {
		t.Fatal(err)
	}
	return out.String(), notes.String()
}

func TestChosenAndPicked(t *testing.T) {
	t.Parallel()
	options := []trace.PermissionOption{{ID: "a", Name: "Allow", OptionKind: trace.AllowOnce}, {ID: "b", Name: "Always", OptionKind: trace.AllowAlways}}
	yes, no := true, false
	for line, want := range map[string]*session.Choice{
		"yes": {Option: "a", Approved: &yes}, " 2 ": {Option: "b"}, "0": nil, "3": nil, "": nil, "maybe": nil, "always": nil, "n": {Approved: &no},
	} {
		got, ok := chosen(options, line)
		if ok != (want != nil) || want != nil && cmp.Diff(*want, got) != "" {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
	}
	q := trace.Question{Choices: []trace.Choice{{Label: "Red"}, {Label: "Blue"}}, Multiple: true}
	for line, want := range map[string][]string{"1": {"Red"}, "1, 2": {"Red", "Blue"}, "3": {"3"}, "green": {"green"}, "": {""}, "2 green": {"2 green"}} {
		if d := cmp.Diff(want, picked(q, line)); d != "" {
			t.Errorf("%q: %s", line, d)
		}
	}
	q.Multiple = false
	if d := cmp.Diff([]string{"1 2"}, picked(q, "1 2")); d != "" {
		t.Error(d)
	}
}

func TestHarmless(t *testing.T) {
	t.Parallel()
	if got := oneLine("a\x1b[31m\n\tb \u009b2J\x00" + strings.Repeat("x", 200)); strings.ContainsAny(got, "\x1b\u009b\x00\n") || len([]rune(got)) != 120 {
		t.Errorf("%q", got)
	}
}
