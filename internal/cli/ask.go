package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/internal/size"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// answers takes the answers to an agent's requests in one session. An answer to a request that
// is over is no error.
type answers interface {
	// permit answers a permission request. A [wrongChoiceError] asks for another answer.
	permit(ctx context.Context, request string, choice session.Choice) error
	answer(ctx context.Context, question string, values []string) error
	// nobody says that no person is there to answer a permission request, or a question.
	nobody(ctx context.Context, request string, question bool) error
}

// wrongChoiceError says why an answer to a permission request counts for nothing.
type wrongChoiceError struct{ sentence string }

func (e wrongChoiceError) Error() string { return e.sentence }

// hubAnswers answers in a session of this process.
type hubAnswers struct {
	hub         *session.Hub
	session, by string
}

func (d hubAnswers) permit(ctx context.Context, request string, choice session.Choice) error {
	_, err := d.hub.Permit(ctx, d.session, request, session.Sender{By: d.by}, choice)
	if wrong, ok := errors.AsType[*session.ChoiceError](err); ok {
		return wrongChoiceError{wrong.Error()}
	}
	return late(err)
}

func (d hubAnswers) answer(ctx context.Context, question string, values []string) error {
	_, err := d.hub.Answer(ctx, d.session, question, session.Sender{By: d.by}, values)
	return late(err)
}

func (d hubAnswers) nobody(ctx context.Context, request string, question bool) error {
	reason := unasked
	if question {
		reason = unanswered
	}
	return late(d.hub.Unattended(ctx, d.session, request, reason))
}

// asker asks the person at the terminal. Without a person nobody answers.
type asker struct {
	out    io.Writer
	in     io.Reader
	there  bool // a person sits at the terminal
	lines  chan string
	inputs map[string]json.RawMessage // of the calls that have no result yet, by their ids
}

// unasked and unanswered are what the agent hears if no person is at the terminal.
const (
	unasked    = "nobody is there to ask"
	unanswered = "Nobody is there to answer: go on without."
)

func (a *asker) name() string { return "terminal" }

// mostLines and mostBytes are how much of an input a terminal shows before the person asks for
// more.
const mostLines, mostBytes = 60, 8 << 10

// asked answers the request in a record, if there is one.
func (a *asker) asked(ctx context.Context, to answers, r trace.Record) error {
	if call, is := r.Payload.(trace.ToolCall); is {
		if a.inputs == nil {
			a.inputs = map[string]json.RawMessage{}
		}
		a.inputs[call.ToolCallID] = call.Input
	}
	if result, is := r.Payload.(trace.ToolResult); is {
		delete(a.inputs, result.ToolCallID)
	}
	if request, is := r.Payload.(trace.PermissionRequest); is && request.DecidedBy == "" {
		return a.permit(ctx, to, request)
	}
	if question, is := r.Payload.(trace.Question); is {
		return a.answer(ctx, to, question)
	}
	return nil
}

// permit answers a permission request.
func (a *asker) permit(ctx context.Context, to answers, r trace.PermissionRequest) error {
	if !a.there {
		fmt.Fprintln(a.out, "tributary: denied, since nobody is there to ask:", oneLine(r.Title))
		return to.nobody(ctx, r.RequestID, false)
	}
	fmt.Fprintf(a.out, "May the agent do this? %s\n", oneParagraph(r.Title))
	rest := a.input(a.inputs[r.ToolCallID])
	for i, o := range r.Options {
		fmt.Fprintf(a.out, "  %d  %s\n", i+1, oneParagraph(quote.Option(o.Name, string(o.OptionKind))))
	}
	for {
		hint := "y, n or a number: "
		if rest != "" {
			hint = "y, n, a number, or more: "
		}
		line, ok := a.line(ctx, hint)
		if !ok {
			return to.nobody(ctx, r.RequestID, false)
		}
		if rest != "" && strings.TrimSpace(line) == "more" {
			fmt.Fprintln(a.out, rest)
			rest = ""
			continue
		}
		choice, known := chosen(r.Options, line)
		if !known {
			continue
		}
		err := to.permit(ctx, r.RequestID, choice)
		if wrong, ok := errors.AsType[wrongChoiceError](err); ok {
			fmt.Fprintln(a.out, wrong)
			continue
		}
		return err
	}
}

// input shows what a call is to do, and returns the part of it that is not shown. No key and no
// value is left out, because the agent runs all of them.
func (a *asker) input(raw json.RawMessage) (rest string) {
	if len(raw) == 0 {
		return ""
	}
	text := "  " + strings.ReplaceAll(quote.Visible(quote.Lines(raw)), "\n", "\n  ")
	shown, rest := text, ""
	if lines := strings.SplitAfterN(text, "\n", mostLines+1); len(lines) > mostLines {
		rest = lines[mostLines]
		shown = text[:len(text)-len(rest)]
	}
	if len(shown) > mostBytes {
		shown = strings.ToValidUTF8(text[:mostBytes], "") // the place may be inside of a character
		rest = text[len(shown):]
	}
	fmt.Fprintln(a.out, strings.TrimSuffix(shown, "\n"))
	if rest != "" {
		n := strings.Count(rest, "\n") + 1
		fmt.Fprintf(a.out, "  (%d more %s, %s: write more to see them)\n", n, map[bool]string{true: "line", false: "lines"}[n == 1], size.Bytes(len(rest)))
	}
	return rest
}

// chosen reads an answer: the number of an option, or yes or no in words.
func chosen(options []trace.PermissionOption, line string) (session.Choice, bool) {
	line = strings.TrimSpace(line)
	if n, err := strconv.Atoi(line); err == nil {
		if n < 1 || n > len(options) {
			return session.Choice{}, false
		}
		return session.Choice{Option: options[n-1].ID}, true
	}
	answer, ok := permission.FromText(options, line)
	if !ok {
		return session.Choice{}, false
	}
	yes := answer.Allowed()
	return session.Choice{Option: answer.ChosenOption, Approved: &yes}, true
}

// answer answers a question.
func (a *asker) answer(ctx context.Context, to answers, q trace.Question) error {
	if !a.there {
		fmt.Fprintln(a.out, "tributary: not answered, since nobody is there to ask:", oneLine(q.Text))
		return to.nobody(ctx, q.QuestionID, true)
	}
	fmt.Fprintln(a.out, oneParagraph(q.Text))
	for i, c := range q.Choices {
		fmt.Fprintf(a.out, "  %d  %s\n", i+1, oneParagraph(c.Label))
	}
	line, ok := a.line(ctx, "your answer: ")
	if !ok {
		return to.nobody(ctx, q.QuestionID, true)
	}
	return to.answer(ctx, q.QuestionID, picked(q, line))
}

// picked reads an answer to a question: numbers of its choices, or free text.
func picked(q trace.Question, line string) []string {
	var labels []string
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(q.Choices) || len(labels) > 0 && !q.Multiple {
			return []string{strings.TrimSpace(line)}
		}
		labels = append(labels, q.Choices[n-1].Label)
	}
	if len(labels) == 0 {
		return []string{strings.TrimSpace(line)}
	}
	return labels
}

// line reads a line. The result is false after the last line and when ctx ends. A read from a
// terminal cannot be interrupted, so its goroutine ends with the program.
func (a *asker) line(ctx context.Context, hint string) (string, bool) {
	if a.lines == nil {
		a.lines = make(chan string)
		go func() {
			defer close(a.lines)
			for in := bufio.NewScanner(a.in); in.Scan(); {
				a.lines <- in.Text()
			}
		}()
	}
	fmt.Fprint(a.out, hint)
	select {
	case line, ok := <-a.lines:
		return line, ok
	case <-ctx.Done():
		return "", false
	}
}

// late drops the error of an answer to something that is over.
func late(err error) error {
	if _, ok := errors.AsType[*session.AnsweredError](err); ok || errors.Is(err, session.ErrUnknownRequest) {
		return nil
	}
	return err
}
