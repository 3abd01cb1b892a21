package toolloop

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// This file repairs a conversation. A Model that finds out what its server refuses puts a notice
// on record with one of the codes below. Run's messages, and History's in later turns, then hold
// what the notice says.

// The codes of the notices.
const (
	// CodeLeftOut says that the prompt of the turn, and earlier ones without an answer, are left
	// out of later requests.
	CodeLeftOut = "prompt_left_out"
	// CodeFilesAsWords says that the files of the conversation so far are named in words.
	CodeFilesAsWords = "files_as_words"
	// CodeStateLeftOut says that the provider state of the calls so far is left out.
	CodeStateLeftOut = "provider_state_left_out"
)

// SummaryNotice is the notice of a summary.
func SummaryNotice(sentence, summary string) trace.Payload {
	return trace.Notice(trace.CodeSummary, sentence+"\n\n"+summary)
}

// repair does what a notice says.
func repair(messages []Message, notice trace.Error) []Message {
	switch {
	case notice.Level != trace.LevelNotice || len(messages) == 0:
		return messages
	case notice.Code == CodeLeftOut:
		for n := len(messages); n > 0; n-- {
			if x := messages[n-1]; x.Role == trace.RoleAssistant && !x.empty() {
				return messages[:n]
			}
		}
		return nil
	case notice.Code == CodeFilesAsWords:
		return FilesAsWords(messages)
	case notice.Code == CodeStateLeftOut:
		return WithoutState(messages)
	case notice.Code == trace.CodeSummary:
		_, summary, _ := strings.Cut(notice.Message, "\n\n")
		return Summarized(messages, summary)
	default:
		return messages
	}
}

// FilesAsWords returns the messages with sentences in place of the files that are no texts.
func FilesAsWords(messages []Message) []Message {
	messages = slices.Clone(messages)
	for i := range messages {
		parts := slices.Clone(messages[i].Parts)
		for k, p := range parts {
			if isBytes(p) {
				parts[k] = trace.InputPart{Type: trace.InputText, Text: words(p)}
			}
		}
		messages[i].Parts = parts
	}
	return messages
}

// WithoutState returns the messages without the provider state of their calls.
func WithoutState(messages []Message) []Message {
	messages = slices.Clone(messages)
	for i := range messages {
		calls := slices.Clone(messages[i].Calls)
		for k := range calls {
			calls[k].State = nil
		}
		messages[i].Calls = calls
	}
	return messages
}

// HasState reports whether WithoutState would change the messages.
func HasState(messages []Message) bool {
	return slices.ContainsFunc(messages, func(x Message) bool {
		return slices.ContainsFunc(x.Calls, func(c Call) bool { return len(c.State) > 0 })
	})
}

// HasFiles reports whether FilesAsWords would change the messages.
func HasFiles(messages []Message) bool {
	return slices.ContainsFunc(messages, func(x Message) bool { return slices.ContainsFunc(x.Parts, isBytes) })
}

func isBytes(p trace.InputPart) bool {
	return p.Type == trace.InputFile && !agentkit.Attached(p).IsText()
}

func words(p trace.InputPart) string {
	a := agentkit.Attached(p)
	a.Inline, a.Data = false, nil
	return a.Text()
}

// LastPrompt is the index of the newest message of a user, or -1.
func LastPrompt(messages []Message) int {
	for i, x := range slices.Backward(messages) {
		if x.Role == trace.RoleUser {
			return i
		}
	}
	return -1
}

// Summarized returns the newest prompt and the messages behind it. A summary stands in the prompt for the
// messages before it, so that user and assistant still take turns.
func Summarized(messages []Message, summary string) []Message {
	at := LastPrompt(messages)
	if at < 0 {
		return messages
	}
	messages = slices.Clone(messages[at:])
	before := trace.InputPart{Type: trace.InputText, Text: "Summary of the conversation before this message:\n\n" + summary}
	messages[0].Parts = slices.Concat([]trace.InputPart{before}, messages[0].Parts)
	return messages
}

// empty reports whether a message has nothing that a model is told.
func (x Message) empty() bool {
	return x.Role == trace.RoleAssistant && x.Text == "" && len(x.Calls) == 0
}

// closeTurn ends a turn whose last message is a call with its result. Some models want
// an answer of the assistant before the next prompt.
func (m *memory) closeTurn() {
	n := len(m.messages)
	for n > 0 && m.messages[n-1].empty() {
		n--
	}
	if n == 0 || len(m.messages[n-1].Calls) == 0 {
		return
	}
	text := "(The turn ended here without an answer.)"
	switch m.outcome {
	case trace.OutcomeCanceled:
		text = "(The turn was stopped here.)"
	case trace.OutcomeFailed:
		text = "(The turn failed here.)"
	case trace.OutcomeCompleted:
	}
	m.messages, m.open = append(m.messages, Message{Role: trace.RoleAssistant, Text: text}), false
}
