package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Texts that scripts say; tests may compare with them.
const (
	PlainText    = "Hello from the scripted model. This is a plain answer."
	ThinkText    = "I have thought about it, and the answer is 42."
	TitleText    = "Scripted title"
	EventText    = "Partial answer before the failure."
	RestText     = " And here is the rest."
	CutText      = "Partial answer before the cut."
	RecoverText  = "It works again after an error."
	WrittenText  = "written by the scripted model\n"
	SlowText     = "One word after another this text goes on for a while so that whoever reads it has the time to press a button or pull a plug before it has come to its end which is at the fortieth word."
	thinkingText = "The question is old. Six times seven comes to mind, so I will say 42."
	finishText   = "Done. The tool said: "
)

// quoteLimit is how many runes of a tool's result a last text quotes.
const quoteLimit = 160

// Play returns the answer to a conversation for the directive and step that
// are due. nth counts, from 1, the requests that were due for this directive.
func Play(d Directive, step, nth int, c Conversation) Answer {
	s := scene{Directive: d, Conversation: c, step: step, nth: nth}
	switch d.Name {
	case "think":
		return Answer{Reasoning: thinkingText, Text: ThinkText}
	case "say":
		return Answer{Text: strings.ReplaceAll(d.Arg, `\n`, "\n"), Delta: 3}
	case "recall":
		return s.recall()
	case "slow":
		return Answer{Text: SlowText, Pace: s.millis()}
	case "empty":
		return Answer{}
	case "big":
		return s.big()
	case "shell":
		return s.use("run a command", c.shell(d.Arg))
	case "read":
		return s.use("read a file", c.read(d.Arg))
	case "write":
		return s.use("write a file", c.write(d.Arg, WrittenText))
	case "both":
		return s.use("read a file and list it", c.read(d.Arg), c.shell("ls "+d.Arg))
	case "chain":
		return s.chain()
	case "slow-tool":
		return s.slowTool()
	case "escalate":
		return s.use("run a command outside the sandbox", c.escalate(d.Arg))
	case "plan":
		return s.use("make a plan", c.plan(choices(d.Arg)))
	case "ask":
		question, rest, _ := strings.Cut(d.Arg, "|")
		return s.use("ask a question", c.ask(strings.TrimSpace(question), choices(rest)))
	case "call":
		return s.call()
	case "error":
		return Answer{Status: s.status()}
	case "error-once":
		return s.errorOnce()
	case "error-event":
		return Answer{Reasoning: "This will fail.", Text: EventText, Break: BreakEvent}
	case "error-event-once":
		if nth == 1 {
			return Answer{Text: EventText, Break: BreakEvent}
		}
		return Answer{Text: EventText + RestText}
	case "error-cut":
		return Answer{Reasoning: "This will fail.", Text: CutText, Break: BreakCut}
	}
	return Answer{Text: PlainText}
}

// choices cuts an argument at its bars.
func choices(arg string) []string {
	var out []string
	for part := range strings.SplitSeq(arg, "|") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// A scene is all that a script can look at.
type scene struct {
	Directive
	Conversation
	step, nth int
}

// use makes the calls, and once they have been answered quotes the last result.
func (s scene) use(why string, calls ...Call) Answer {
	if s.step > 0 {
		return s.finish()
	}
	return Answer{Reasoning: "I should use a tool to " + why + ".", Text: "I will " + why + ".", Calls: calls}
}

func (s scene) finish() Answer {
	quote := ""
	if rs := s.results(); len(rs) > 0 {
		quote = strings.Join(strings.Fields(reminder.ReplaceAllString(rs[len(rs)-1], "")), " ")
	}
	if r := []rune(quote); len(r) > quoteLimit {
		quote = string(r[:quoteLimit]) + "…"
	}
	return Answer{Text: finishText + quote}
}

func (s scene) recall() Answer {
	said := s.prompts()
	if len(said) == 0 {
		return Answer{Text: "You have told me nothing before this."}
	}
	var b strings.Builder
	b.WriteString("Before this you told me:")
	for i, p := range said {
		fmt.Fprintf(&b, "\n%d. %q", i+1, p)
	}
	return Answer{Text: b.String()}
}

func (s scene) big() Answer {
	size, path, _ := strings.Cut(s.Arg, " ")
	kb, _ := strconv.Atoi(size)
	text := filler(max(kb, 1) << 10)
	if path == "" {
		return Answer{Text: text, Delta: 8 << 10}
	}
	a := s.use("write a large file", s.write(strings.TrimSpace(path), text))
	a.Delta = 8 << 10
	return a
}

// filler returns n bytes of numbered lines, so that a loss in the middle shows.
func filler(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %07d of a large text\n", i)
	}
	return b.String()[:n]
}

func (s scene) call() Answer {
	name, raw, _ := strings.Cut(s.Arg, " ")
	input := map[string]any{}
	if strings.TrimSpace(raw) != "" {
		if err := json.Unmarshal([]byte(raw), &input); err != nil {
			return Answer{Text: "The script holds no valid JSON object as input: " + err.Error() + "."}
		}
	}
	return s.use("call "+name, Call{Name: name, Input: input})
}

func (s scene) chain() Answer {
	out := s.Arg + ".out"
	switch s.step {
	case 0:
		return Answer{Reasoning: "Three steps: read, write, list.", Text: "First I read.", Calls: []Call{s.read(s.Arg)}}
	case 1:
		return Answer{Text: "Then I write.", Calls: []Call{s.write(out, WrittenText)}}
	case 2:
		return Answer{Reasoning: "One step is left.", Text: "Now I list.", Calls: []Call{s.shell("ls " + out)}}
	default:
		return s.finish()
	}
}

func (s scene) slowTool() Answer {
	a := s.use("run a command slowly", s.shell("echo "+strings.Repeat("slow ", 40)+"done"))
	if len(a.Calls) > 0 {
		a.Pace = s.millis()
	}
	return a
}

func (s scene) errorOnce() Answer {
	if s.nth == 1 {
		return Answer{Status: s.status()}
	}
	return Answer{Text: RecoverText}
}

// status reads an HTTP error status from the head of the argument.
func (s scene) status() int {
	head, _, _ := strings.Cut(s.Arg, " ")
	if code, err := strconv.Atoi(head); err == nil && code >= 400 && code <= 599 {
		return code
	}
	return http.StatusInternalServerError
}

func (s scene) millis() time.Duration {
	ms, _ := strconv.Atoi(s.Arg)
	return time.Duration(min(max(ms, 1), 60_000)) * time.Millisecond
}
