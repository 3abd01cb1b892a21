package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// Bounds of one answer.
const (
	maxSaid     = 64 << 20 // bytes of text, reasoning and inputs of calls together
	maxParts    = 2000     // texts and pieces of reasoning that take turns
	maxCalls    = 128
	maxSources  = 200     // further ones are left out
	maxPictures = 16      // further ones are left out
	maxState    = 1 << 20 // bytes of provider state; a larger one is left out
)

// answer is what a model says in one call. The record gets each piece at once, and answer
// keeps all pieces.
type answer struct {
	to        *trace.Builder
	step      int
	thinkTags *thinkTags // nil if tags are text
	text      strings.Builder
	content   strings.Builder // the text together with the tags of reasoning in it
	thoughts  []*thought
	calls     []*growing
	state     messageState
	usage     trace.Usage
	finish    string // in the endpoint's words; "" if there was none
	ended     bool   // the endpoint said that the answer is whole
	refused   bool
	spoken    bool       // something is on record, so the call cannot be tried again
	open      trace.Kind // of the part that is open; "" if none is
	parts     int
	size      int
	cited     map[string]bool // by URL or name
	pictures  int
	items     []*item // of Responses
	bound     error   // which bound the answer has exceeded
	said      toolloop.Message
}

type thought struct {
	text      strings.Builder
	signature string
}

// partKey names each part: a part that has ended frees its name.
const partKey = "part"

// tooMuchError says that an answer exceeds a bound.
type tooMuchError struct{ what string }

func (e tooMuchError) Error() string { return e.what }

// takes reports whether an answer may grow by so many bytes.
func (a *answer) takes(bytes int) bool {
	if a.size += bytes; a.size > maxSaid {
		a.bound = tooMuchError{fmt.Sprintf("more than %d MB", maxSaid>>20)}
	}
	return a.bound == nil
}

// says takes text of the model, which may hold reasoning between tags.
func (a *answer) says(delta string) {
	a.content.WriteString(delta)
	if a.thinkTags == nil {
		a.writes(delta)
		return
	}
	a.thinkTags.split(delta, a.thinks, a.writes)
}

// writes takes text that is no reasoning.
func (a *answer) writes(delta string) {
	if delta != "" && a.takes(len(delta)) && a.begin(trace.KindMessage) {
		a.text.WriteString(delta)
		a.to.MessageDelta(partKey, delta)
	}
}

func (a *answer) refuses(delta string) {
	a.refused = a.refused || delta != ""
	a.writes(delta)
}

func (a *answer) thinks(delta string) {
	if delta != "" && a.takes(len(delta)) && a.begin(trace.KindThought) {
		a.thoughts[len(a.thoughts)-1].text.WriteString(delta)
		a.to.ThoughtDelta(partKey, delta)
	}
}

// begin makes sure that a part of the kind is open. It reports whether there is one.
func (a *answer) begin(kind trace.Kind) bool {
	if a.open == kind {
		return true
	}
	a.endPart("")
	if a.parts++; a.parts > maxParts {
		a.bound = tooMuchError{fmt.Sprintf("more than %d parts", maxParts)}
		return false
	}
	a.open, a.spoken = kind, true
	if kind == trace.KindThought {
		a.thoughts = append(a.thoughts, &thought{})
	}
	return true
}

// endPart ends the open part. The signature is that of reasoning, which the endpoint may
// keep to itself.
func (a *answer) endPart(signature string) {
	switch {
	case a.open == trace.KindMessage:
		a.to.MessageEnd(partKey)
	case a.open == trace.KindThought:
		a.to.ThoughtEnd(partKey, signature)
		a.thoughts[len(a.thoughts)-1].signature = signature
		a.open = ""
		return
	}
	a.open = ""
	if signature != "" && a.takes(len(signature)) { // the record has no part without text
		a.thoughts = append(a.thoughts, &thought{signature: signature})
		a.state.Sealed = append(a.state.Sealed, signature)
	}
}

// close ends what is open, and collects what was said.
func (a *answer) close() {
	if a.thinkTags != nil {
		a.thinkTags.flush(a.thinks, a.writes)
	}
	a.endPart("")
	a.said.Text = a.text.String()
	for _, t := range a.thoughts {
		a.said.Thoughts = append(a.said.Thoughts, toolloop.Thought{Text: t.text.String(), Signature: t.signature})
	}
	for _, g := range a.calls {
		if g.ID == "" {
			continue
		}
		if len(a.said.Calls) == 0 {
			g.state.Message = &a.state
		}
		g.State = g.state.encode()
		a.said.Calls = append(a.said.Calls, g.Call)
	}
}

// rest is what a whole text has beyond what was said of it. A whole that contradicts what was
// said adds nothing.
func rest(said, whole string) string {
	more, ok := strings.CutPrefix(whole, said)
	if !ok {
		return ""
	}
	return more
}

// raw is a value of the endpoint that goes back as it came.
type raw = json.RawMessage
