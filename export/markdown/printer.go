package markdown

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// printer writes turns. The buffer keeps the first error.
type printer struct {
	*bufio.Writer
	agent string
}

func (p printer) block(format string, args ...any) {
	_, _ = p.WriteString("\n" + strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// turn writes what people and the agent said and did in a turn.
func (p printer) turn(t *turn) {
	shown := map[string]bool{} // calls
	for i, r := range t.records {
		_, sub := r.Actor.SubagentCall()
		switch e := r.Payload.(type) {
		case trace.Prompt:
			p.block("## %s, %s", inline(cmp.Or(e.By, "User")), at(r.Time))
			for _, part := range e.Message.Parts {
				if part.Type == trace.InputText {
					p.block("%s", contained(part.Text))
				} else {
					p.file(part.Filename, part.MediaType, part.URL)
				}
			}
		case trace.Reply:
			p.block("## %s, %s", inline(p.agent), at(r.Time))
		case trace.Message:
			if !t.gone[e.Part] && e.Text != "" {
				p.said("Sub-agent", e.Text, sub || e.Role != trace.RoleAssistant)
			}
		case trace.Thought:
			if !t.gone[e.Part] && e.Text != "" {
				p.said("Reasoning", e.Text, true)
			}
		case trace.ToolCall:
			if !shown[e.ToolCallID] {
				shown[e.ToolCallID] = true
				p.call(t.calls[e.ToolCallID], t.results)
			}
		case trace.PermissionRequest:
			p.block("**Permission**: %s: %s", cmp.Or(code(e.Title), "a call"), answered(e.Options, t.answers[e.RequestID], e.DecidedBy))
			if a, is := t.answers[e.RequestID].Payload.(trace.PermissionResponse); is && len(a.UpdatedInput) > 0 {
				p.block("With this input instead:")
				p.fence("json", readable(a.UpdatedInput), quote.Visible)
			}
		case trace.Question:
			p.question(e, t.answers[e.QuestionID])
		case trace.FileChange:
			p.block("**File %s**: %s", inline(string(e.Change)), inline(e.Path))
			if e.Diff != "" {
				p.fence("diff", e.Diff, quote.Visible)
			}
		case trace.Plan:
			if t.last[trace.KindPlan] == i {
				p.plan(e)
			}
		case trace.Source:
			p.block("**Source**: %s %s", inline(cmp.Or(e.Title, e.Filename, e.SourceID)), inline(e.URL))
		case trace.File:
			p.file(e.Filename, e.MediaType, e.URL)
		case trace.Data:
			p.data(e)
		case trace.Error:
			p.block("**Error**: %s", inline(e.Message))
		case trace.Stop:
			if e.Outcome != trace.OutcomeCompleted {
				how := map[bool]string{true: "failed", false: "was stopped"}[e.Outcome == trace.OutcomeFailed]
				p.block("**The turn %s** at %s (%s). %s", how, at(r.Time), inline(e.Reason), inline(e.Error))
			}
		case trace.ToolResult, trace.PermissionResponse, trace.Answer:
			// beside what they answer
		case trace.MessageStart, trace.MessageDelta, trace.ThoughtStart, trace.ThoughtDelta, trace.ToolCallStart, trace.ToolCallDelta,
			trace.ToolResultProgress, trace.Pause, trace.Step, trace.Usage, trace.Rewind, trace.Status, trace.Unknown:
			// nothing that a person would miss
		}
	}
}

// said writes a text. One that is beside the answer has a line of the gateway before it, and is
// a quotation in a quotation.
func (p printer) said(by, text string, beside bool) {
	text = contained(text)
	if beside {
		p.block("*%s:*", by)
		text = quoted(text)
	}
	p.block("%s", text)
}

// call writes a call of a tool: a line, the input, and the output.
func (p printer) call(c trace.ToolCall, results map[string]trace.ToolResult) {
	title := ""
	if c.Title != "" && c.Title != c.Name {
		title = ": " + code(c.Title)
	}
	result, ended := results[c.ToolCallID]
	status := "no result"
	if ended {
		status = string(result.Status)
	}
	p.block("**Tool** %s%s (%s)", code(cmp.Or(c.Name, c.RawName)), title, status)
	if input := readable(c.Input); input != "" && input != "{}" {
		p.fence("json", input, quote.Visible)
	}
	if result.Error != "" {
		p.block("Error:")
		p.fence("", result.Error, plain)
	}
	if output := readable(result.Output); output != "" && output != "null" {
		p.block("Output:")
		p.fence("", output, plain)
	}
}

func (p printer) question(q trace.Question, answer trace.Record) {
	p.block("**Question**:")
	p.block("%s", contained(quote.Visible(cmp.Or(q.Text, q.Header))))
	for i, c := range q.Choices {
		lead := ""
		if i == 0 {
			lead = "\n"
		}
		_, _ = fmt.Fprintf(p, "%s- %s\n", lead, inline(strings.TrimSuffix(c.Label+": "+c.Description, ": ")))
	}
	p.block("%s", answered(nil, answer, ""))
}

func (p printer) plan(e trace.Plan) {
	p.block("**Plan**")
	_, _ = p.WriteString("\n")
	for _, entry := range e.Entries {
		_, _ = fmt.Fprintf(p, "- [%s] %s\n", map[bool]string{true: "x", false: " "}[entry.Status == trace.PlanCompleted], inline(entry.Content))
	}
}

// data writes a message that a person has sent into a running turn. Other data is the agent's own.
func (p printer) data(e trace.Data) {
	var steer struct{ Text, By string }
	if e.Name == "steer" && json.Unmarshal(e.Value, &steer) == nil {
		p.said(inline(cmp.Or(steer.By, "User")), steer.Text, true)
	}
}

// file writes the name of a file. A data URL is the file itself, so it is left out.
func (p printer) file(name, mediaType, url string) {
	if strings.HasPrefix(url, "data:") {
		url = ""
	}
	p.block("**File**: %s %s", inline(strings.TrimSpace(name+" ("+mediaType+")")), inline(url))
}

// fence writes a text between fences that are longer than every one in the text. clean is
// [plain], or [quote.Visible] for what an agent did.
func (p printer) fence(language, text string, clean func(string) string) {
	whole := len(text)
	if whole > MostOutput {
		text = strings.ToValidUTF8(text[:MostOutput], "")
	}
	text = strings.TrimSuffix(clean(text), "\n")
	marks := backticks(text, 3)
	p.block("%s%s\n%s\n%s", marks, language, text, marks)
	if whole > MostOutput {
		p.block("*Cut at %d of %d bytes.*", MostOutput, whole)
	}
}

// answered says in a sentence who answered a request, and how.
func answered(options []trace.PermissionOption, r trace.Record, decidedBy string) string {
	outcome, chosen, by, reason := trace.PermissionOutcome(""), "", "", ""
	if a, is := r.Payload.(trace.PermissionResponse); is {
		outcome, by, reason = a.Outcome, a.By, a.Reason
		chosen = "denied"
		if a.Allowed() {
			chosen = "allowed"
		}
		for _, o := range options {
			if o.ID == a.ChosenOption {
				chosen += " (" + code(o.Name) + ")"
			}
		}
	}
	if a, is := r.Payload.(trace.Answer); is {
		outcome, by, reason, chosen = a.Outcome, a.By, a.Reason, "answered: "+code(strings.Join(a.Values, ", "))
	}
	switch outcome {
	case "":
		return "no answer yet."
	case trace.Expired:
		return "nobody answered in time."
	case trace.Canceled:
		return strings.TrimSpace("withdrawn. " + inline(reason))
	case trace.Selected:
	}
	sentence := chosen
	if by = cmp.Or(by, decidedBy); by != "" {
		sentence += ", by " + inline(by)
	}
	sentence += ", " + at(r.Time)
	if reason != "" {
		sentence += ", because: " + inline(reason)
	}
	return sentence + "."
}

// readable is JSON for people: the text of a string, and other values in lines.
func readable(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if len(raw) > MostOutput {
		return string(raw)
	}
	return quote.Lines(raw)
}
