package agentops

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// The errors of turns that could not reach Agent Ops, in the words of the RFC. The reason is
// on record beside them, as an error that does not end the turn.
const (
	connectionFailed  = "Connection failed"
	streamInterrupted = "Stream interrupted"
)

// failure says why the server could not be used.
type failure struct {
	sentence string
	status   int  // of the HTTP answer, if there was one
	final    bool // another try would fail, too
	personal bool // another caller may be let in
}

func (f *failure) Error() string { return f.sentence }

// asFailure returns the failure behind an error, or an empty one.
func asFailure(err error) failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return *f
	}
	return failure{}
}

func statusOf(err error) int { return asFailure(err).status }

// refused makes a sentence of an HTTP answer that is no success, and of the server's words.
func refused(status int, said string) *failure {
	said = oneLine(httpjson.Sentence([]byte(said))) // some errors are JSON within JSON
	if strings.HasPrefix(said, "<") {               // a page for people
		said = ""
	}
	f := &failure{status: status, final: status < http.StatusInternalServerError && status != http.StatusTooManyRequests}
	f.personal = status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound
	switch {
	case status == http.StatusUnauthorized:
		f.sentence = "Agent Ops does not accept the token (401): sign in there again, or correct the agent's token."
	case status == http.StatusNotFound && said == noRoute:
		f.sentence = noRoute
	case status == http.StatusNotFound:
		f.sentence = "Agent Ops has no such session, or none that you may use (404)."
	default:
		f.sentence = fmt.Sprintf("Agent Ops refused (%d): %s", status, cmp.Or(said, http.StatusText(status), "no reason was given"))
	}
	return f
}

// noRoute is what Agent Ops says of an address that it does not have. A gateway in the place of
// a session agent answers 501.
const noRoute = "Not found"

// lacksRoute reports whether the server does not have the address of a call.
func lacksRoute(err error) bool {
	f := asFailure(err)
	return f.sentence == noRoute || f.status == http.StatusNotImplemented
}

// oneLine makes a stranger's text fit for a sentence.
func oneLine(text string) string {
	const longest = 300
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// The ends of turns that this side decides.
func stopped() trace.Stop { return trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled} }
func closed() trace.Stop  { return trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled} }
func lost(sentence string) trace.Stop {
	return trace.Stop{Reason: trace.ReasonLost, Outcome: trace.OutcomeFailed, Error: sentence}
}

// fail ends a turn that lost its server. The reason is on record beside the sentence.
func fail(b *trace.Builder, sentence string, why error) {
	if b.Over() {
		return
	}
	if sentence != why.Error() {
		b.Emit(trace.Error{Message: why.Error(), Code: "agentops_connection"})
	}
	b.End(lost(sentence))
}
