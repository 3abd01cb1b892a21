package agentops

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	f := &failure{status: status, final: status < http.StatusInternalServerError && status != http.StatusTooManyRequests}
	f.personal = status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound
	switch {
	case status == http.StatusUnauthorized:
		f.sentence = "Agent Ops does not accept the token (401): sign in there again, or correct the agent's token."
	case status == http.StatusNotFound && said == noRoute:
		f.sentence = noRoute
	case status == http.StatusNotFound:
		f.sentence = "Agent Ops has no such session, or none that you may use (404)."
	case said != "":
		f.sentence = fmt.Sprintf("Agent Ops refused (%d): %s", status, said)
	default:
		f.sentence = fmt.Sprintf("Agent Ops refused with status %d.", status)
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

// saidIn reads the sentence of an error's body. Some stand in JSON within JSON.
func saidIn(body io.Reader) string {
	const enough = 16 << 10
	if body == nil {
		return ""
	}
	data, _ := io.ReadAll(io.LimitReader(body, enough))
	for range 2 {
		var in struct {
			Error   string `json:"error"`
			Message string `json:"message"`
		}
		if json.Unmarshal(data, &in) != nil || in.Error == "" && in.Message == "" {
			break
		}
		data = []byte(in.Error)
		if in.Error == "" {
			data = []byte(in.Message)
		}
	}
	if text := oneLine(string(data)); !strings.HasPrefix(text, "<") { // a proxy's page
		return text
	}
	return ""
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

// innermost is the cause at the end of a chain of errors, which says it best.
func innermost(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
