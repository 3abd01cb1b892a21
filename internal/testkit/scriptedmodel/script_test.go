package scriptedmodel

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// claudeTools and otherTools are the same three kinds under two sets of names.
var (
	claudeTools = []Tool{
		{Name: "Bash", Properties: map[string]string{"command": "string", "description": "string"}},
		{Name: "Read", Properties: map[string]string{"file_path": "string"}},
		{Name: "Write", Properties: map[string]string{"file_path": "string", "content": "string"}},
	}
	otherTools = []Tool{
		{Name: "shell", Properties: map[string]string{"command": "array"}},
		{Name: "write_file", Properties: map[string]string{"path": "string", "content": "string"}},
	}
	codexTools = []Tool{
		{Name: "exec_command", Properties: map[string]string{"cmd": "string", "sandbox_permissions": "string"}},
		{Name: "apply_patch", Freeform: true},
		{Name: "update_plan", Properties: map[string]string{"plan": "array"}, Items: map[string]Tool{
			"plan": {Properties: map[string]string{"step": "string", "status": "string"}},
		}},
		{Name: "question", Properties: map[string]string{"questions": "array"}, Items: map[string]Tool{
			"questions": {Properties: map[string]string{"question": "string", "header": "string", "options": "array"}},
		}},
	}
)

func TestPlay(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for _, tc := range []struct {
		directive string
		step, nth int
		tools     []Tool
		want      Answer
	}{
		{directive: "plain", want: Answer{Text: PlainText}},
		{directive: "no such script", want: Answer{Text: PlainText}},
		{directive: "think", want: Answer{Reasoning: thinkingText, Text: ThinkText}},
		{directive: `say one\ntwo 🙂`, want: Answer{Text: "one\ntwo 🙂", Delta: 3}},
		{directive: "slow 7", want: Answer{Text: SlowText, Pace: 7 * time.Millisecond}},
		{directive: "slow nonsense", want: Answer{Text: SlowText, Pace: time.Millisecond}},
		{directive: "empty", want: Answer{}},
		{directive: "error 429", want: Answer{Status: 429}},
		{directive: "error 200", want: Answer{Status: 500}},
		{directive: "error-once 503 a", nth: 1, want: Answer{Status: 503}},
		{directive: "error-once 503 a", nth: 2, want: Answer{Text: RecoverText}},
		{directive: "error-event", want: Answer{Reasoning: "This will fail.", Text: EventText, Break: BreakEvent}},
		{directive: "error-event-once a", nth: 1, want: Answer{Text: EventText, Break: BreakEvent}},
		{directive: "error-event-once a", nth: 2, want: Answer{Text: EventText + RestText}},
		{directive: "error-cut", want: Answer{Reasoning: "This will fail.", Text: CutText, Break: BreakCut}},
		{directive: "shell ls -l", tools: claudeTools, want: Answer{
			Reasoning: "I should use a tool to run a command.", Text: "I will run a command.",
			Calls: []Call{{Name: "Bash", Input: object{"command": "ls -l", "description": "Run a scripted command"}}},
		}},
		{directive: "both /a", tools: claudeTools, want: Answer{
			Reasoning: "I should use a tool to read a file and list it.", Text: "I will read a file and list it.",
			Calls: []Call{
				{Name: "Read", Input: object{"file_path": "/a"}},
				{Name: "Bash", Input: object{"command": "ls /a", "description": "Run a scripted command"}},
			},
		}},
		{directive: "write /a", tools: otherTools, want: Answer{
			Reasoning: "I should use a tool to write a file.", Text: "I will write a file.",
			Calls: []Call{{Name: "write_file", Input: object{"path": "/a", "content": WrittenText}}},
		}},
		{directive: "read /a", tools: otherTools, want: Answer{
			Reasoning: "I should use a tool to read a file.", Text: "I will read a file.",
			Calls: []Call{{Name: "shell", Input: object{"command": []string{"sh", "-c", "cat /a"}}}},
		}},
		{directive: "write /a", tools: codexTools, want: Answer{
			Reasoning: "I should use a tool to write a file.", Text: "I will write a file.",
			Calls: []Call{{Name: "apply_patch", Text: "*** Begin Patch\n*** Add File: /a\n+written by the scripted model\n*** End Patch\n"}},
		}},
		{directive: "escalate touch /a", tools: codexTools, want: Answer{
			Reasoning: "I should use a tool to run a command outside the sandbox.", Text: "I will run a command outside the sandbox.",
			Calls: []Call{{Name: "exec_command", Input: object{"cmd": "touch /a", "sandbox_permissions": "require_escalated", "justification": "The script wants it."}}},
		}},
		{directive: "escalate ls", tools: claudeTools, want: Answer{
			Reasoning: "I should use a tool to run a command outside the sandbox.", Text: "I will run a command outside the sandbox.",
			Calls: []Call{{Name: "Bash", Input: object{"command": "ls", "description": "Run a scripted command"}}},
		}},
		{directive: "plan look | leap", tools: codexTools, want: Answer{
			Reasoning: "I should use a tool to make a plan.", Text: "I will make a plan.",
			Calls: []Call{{Name: "update_plan", Input: object{"plan": []any{
				object{"step": "look", "status": "completed"}, object{"step": "leap", "status": "in_progress"},
			}}}},
		}},
		{directive: "ask Which? | Red | Blue", tools: codexTools, want: Answer{
			Reasoning: "I should use a tool to ask a question.", Text: "I will ask a question.",
			Calls: []Call{{Name: "question", Input: object{"questions": []any{object{
				"question": "Which?", "header": "Question", "options": []any{
					object{"label": "Red", "description": "The choice Red"}, object{"label": "Blue", "description": "The choice Blue"},
				},
			}}}}},
		}},
		{directive: "read /a", step: 1, tools: claudeTools, want: Answer{Text: "Done. The tool said: what it said"}},
		{directive: "chain /a", step: 1, tools: claudeTools, want: Answer{
			Text: "Then I write.", Calls: []Call{{Name: "Write", Input: object{"file_path": "/a.out", "content": WrittenText}}},
		}},
		{directive: "chain /a", step: 3, tools: claudeTools, want: Answer{Text: "Done. The tool said: what it said"}},
		{directive: `call Task {"n":1,"s":"x"}`, want: Answer{
			Reasoning: "I should use a tool to call Task.", Text: "I will call Task.",
			Calls: []Call{{Name: "Task", Input: object{"n": 1.0, "s": "x"}}},
		}},
		{directive: "call Task", want: Answer{
			Reasoning: "I should use a tool to call Task.", Text: "I will call Task.",
			Calls: []Call{{Name: "Task", Input: object{}}},
		}},
	} {
		t.Run(tc.directive, func(t *testing.T) {
			t.Parallel()
			d, _ := ParseDirective("[[script:" + tc.directive + "]]")
			c := Conversation{Tools: tc.tools, Turns: []Turn{{Role: RoleTool, Results: []string{"first", "what\n it <system-reminder>a\nnote</system-reminder> said"}}}}
			if diff := cmp.Diff(tc.want, Play(d, tc.step, max(tc.nth, 1), c)); diff != "" {
				t.Errorf("Play (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlayRejectsInputThatIsNoObject(t *testing.T) {
	t.Parallel()
	a := Play(Directive{"call", "Task {broken"}, 0, 1, Conversation{})
	if len(a.Calls) != 0 || !strings.Contains(a.Text, "no valid JSON") {
		t.Errorf("got %+v; want a text that says that the input is not JSON", a)
	}
}

func TestRecallQuotesEarlierPromptsOnly(t *testing.T) {
	t.Parallel()
	c := Conversation{Turns: []Turn{
		{Role: RoleUser, Text: "<system-reminder>\nnever shown\n</system-reminder>\nMy name is Ada. [[script:plain]]"},
		{Role: RoleAssistant, Text: PlainText},
		{Role: RoleUser, Text: "<system-reminder>only a note</system-reminder>"},
		{Role: RoleUser, Text: "I like \"tea\" 🍵."},
		{Role: RoleUser, Text: "Who am I? [[script:recall]]"},
	}}
	d, step := c.Due()
	want := "Before this you told me:\n1. \"My name is Ada. [[script:plain]]\"\n2. \"I like \\\"tea\\\" 🍵.\""
	if got := Play(d, step, 1, c).Text; got != want {
		t.Errorf("recall said:\n%s\nwant:\n%s", got, want)
	}
	first := Conversation{Turns: c.Turns[4:]}
	if got := Play(d, step, 1, first).Text; !strings.Contains(got, "nothing before this") {
		t.Errorf("recall in a new conversation said %q", got)
	}
}

func TestBig(t *testing.T) {
	t.Parallel()
	if a := Play(Directive{"big", "300"}, 0, 1, Conversation{}); len(a.Text) != 300<<10 {
		t.Errorf("the text has %d bytes; want 300 KB", len(a.Text))
	}
	a := Play(Directive{"big", "5 /a"}, 0, 1, Conversation{Tools: claudeTools})
	if len(a.Calls) != 1 || len(a.Calls[0].Input["content"].(string)) != 5<<10 {
		t.Errorf("got %+v; want one call that writes 5 KB", a.Calls)
	}
}

func TestSlowTextHasFortyWords(t *testing.T) {
	t.Parallel()
	if n := len((Answer{Pace: 1}).deltas(SlowText)); n != 40 {
		t.Errorf("the slow text comes in %d deltas; want 40", n)
	}
}

func TestDeltasAddUpToTheText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		a := Answer{Delta: rapid.IntRange(0, 5).Draw(t, "delta"), Pace: time.Duration(rapid.IntRange(0, 1).Draw(t, "pace"))}
		deltas := a.deltas(text)
		for _, d := range deltas {
			if d == "" || !utf8.ValidString(d) {
				t.Fatalf("%q is no delta: empty or half a rune", d)
			}
		}
		if got := strings.Join(deltas, ""); got != text {
			t.Fatalf("deltas add up to %q; want %q", got, text)
		}
		if got := strings.Join(a.inputDeltas(text), ""); got != text {
			t.Fatalf("input deltas add up to %q; want %q", got, text)
		}
	})
}
