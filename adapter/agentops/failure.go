package agentops

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/internal/httpjson"
)

// What a turn's stop says, to the letter, where Agent Ops could not be talked to.
// Why is on record beside it, as an error that does not end the turn.
const (
	connectionFailed  = "Connection failed"
	streamInterrupted = "Stream interrupted"
)

// failure is why the other side could not be talked to.
type failure struct {
	sentence string
	status   int  // of the HTTP answer, if there was one
	final    bool // trying again changes nothing
	foreign  bool // the answer is not of its JSON
	personal bool // it is about whoever called: another may be let in
}

func (f *failure) Error() string { return f.sentence }

// isFinal reports whether trying again changes nothing.
func isFinal(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.final
}

// isPersonal reports whether somebody else may fare better.
func isPersonal(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.personal
}

// statusOf is the HTTP status behind an error, or 0.
func statusOf(err error) int {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.status
	}
	return 0
}

// refused makes a sentence of an HTTP answer that is no success, and of what it says.
func refused(status int, said string) *failure {
	said = oneLine(httpjson.Sentence([]byte(said))) // some stand in JSON within JSON
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

// noRoute is what Agent Ops says of an address that its version does not have. Of
// a session that it does not have it says more. A gateway like this one, in the place
// of a session agent, answers 501 there.
const noRoute = "Not found"

// lacksRoute reports whether the other side is too old for what was called.
func lacksRoute(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && (f.status == http.StatusNotFound && f.sentence == noRoute || f.status == http.StatusMethodNotAllowed || f.status == http.StatusNotImplemented)
}

// isElsewhere reports whether an address holds something else there, or nothing.
func isElsewhere(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.foreign || lacksRoute(err)
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
