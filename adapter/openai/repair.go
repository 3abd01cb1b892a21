package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// This file changes a conversation that the endpoint refuses, so that one message does not end
// the session. Package toolloop keeps the changes for later turns.

// repairs are the changes of this turn.
type repairs struct {
	summary   string               // of the earlier turns; "" if they are sent as they are
	compacted bool                 // a summary was asked for
	inWords   bool                 // files are named in words
	noState   bool                 // the provider state of the calls before this turn is left out
	refused   error                // the first refusal, which the changes answer
	tell      func() trace.Payload // a notice that waits until the changed call succeeds
}

// repaired is the conversation with the changes of this turn.
func (m *model) repaired(messages []toolloop.Message) []toolloop.Message {
	if m.summary != "" {
		messages = toolloop.Summarized(messages, m.summary)
	}
	if m.inWords {
		messages = toolloop.FilesAsWords(messages)
	}
	if at := toolloop.LastPrompt(messages); m.noState && at > 0 {
		messages = slices.Concat(toolloop.WithoutState(messages[:at]), messages[at:])
	}
	return messages
}

// repair changes a conversation that was refused. It reports whether the call may succeed now.
func (m *model) repair(ctx context.Context, err error, messages []toolloop.Message, b *trace.Builder) bool {
	f, ok := errors.AsType[*failure](err)
	switch {
	case !ok:
		return false
	case f.refuses() && f.class() == trace.ClassContext && m.compact(ctx, messages, estimate(m.repaired(messages))/2, b):
		return true
	case !m.inWords && f.mayMeanFiles() && toolloop.HasFiles(m.repaired(messages)):
		m.inWords, m.refused = true, cmp.Or(m.refused, err)
		m.tell = func() trace.Payload {
			return trace.Notice(toolloop.CodeFilesAsWords, fmt.Sprintf("The endpoint refused the attached files (%s). The model %s got their names only, in this request and in later ones.", m.redacted(err), m.Model))
		}
		return true
	case !m.noState && f.refuses() && toolloop.HasState(messages[:max(0, toolloop.LastPrompt(messages))]):
		m.noState, m.refused = true, cmp.Or(m.refused, err)
		m.tell = func() trace.Payload {
			return trace.Notice(toolloop.CodeStateLeftOut, fmt.Sprintf("The endpoint refused the provider state of earlier calls (%s), so later requests leave the state out.", m.redacted(err)))
		}
		return true
	}
	return false
}

// repairedWell tells the user, and later turns, what was changed: the call succeeded.
func (m *model) repairedWell(b *trace.Builder) {
	m.refused = nil
	if m.tell != nil {
		b.Emit(m.tell())
		m.tell = nil
	}
}

// giveUp returns the error of a turn. If the endpoint refused the prompt, later requests leave
// the prompt out.
func (m *model) giveUp(err error, b *trace.Builder) error {
	if f, ok := errors.AsType[*failure](err); ok && m.steps == 1 && f.refuses() {
		b.Emit(trace.Notice(toolloop.CodeLeftOut, "The endpoint refused this message, so later requests leave the message out, and earlier ones without an answer."))
		return m.explain(cmp.Or(m.refused, err))
	}
	return m.explain(err)
}

// aboutFiles recognises the words of servers that refuse files with any status: llama.cpp with
// 500, OpenRouter with 404.
var aboutFiles = regexp.MustCompile(`(?i)image|picture|vision|multi-?modal|modalit|mmproj|media|\bfiles?\b|attachment|pdf|audio|video`)

// mayMeanFiles reports whether a request may succeed without its files.
func (f *failure) mayMeanFiles() bool { return f.refuses() || aboutFiles.MatchString(f.message) }

// refuses reports whether an endpoint refused what a request holds, and not its key or its model.
func (f *failure) refuses() bool {
	switch f.status {
	case 0:
		return f.class() == trace.ClassContext || f.class() == trace.ClassRequest
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	default:
		return f.class() == trace.ClassContext
	}
}
