package acp

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// codeAuth is the error code of an agent that wants its user to log in.
const codeAuth = -32000

// failure is the end of a turn that the agent answered with an error.
func (d *Decoder) failure(e jsonrpc.Error) trace.Stop {
	end := trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Class: classOf(e), Error: sentence(explain(e))}
	if e.Code == codeAuth {
		end.Reason, end.Error = "auth_required", d.agent.login(end.Error)
	}
	return end
}

// explain finds the words in an error that say what happened.
func explain(e jsonrpc.Error) string {
	type words struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Details string `json:"details"`
		Message string `json:"message"`
	}
	message := cmp.Or(parse[words](raw(e.Message)).Error.Message, e.Message)
	message = strings.TrimPrefix(message, "Internal error: ")
	if message == "Internal error" {
		message = ""
	}
	data := parse[words](e.Data)
	return cmp.Or(message, parse[string](e.Data), data.Details, data.Message, e.Error())
}

// classOf says what kind of failure an error is, if the agent tells. The code may tell it, a word or an
// HTTP status beside the text, or the status with which the text begins.
func classOf(e jsonrpc.Error) trace.Class {
	if e.Code == codeAuth {
		return trace.ClassAuth
	}
	var class trace.Class
	for _, data := range []raw{e.Data, raw(parse[string](e.Data)), raw(e.Message)} { // some write JSON as text
		class = cmp.Or(class, classIn(parse[map[string]any](data)))
	}
	return cmp.Or(class, trace.ClassOfStatus(e.Code), classOfText(explain(e)))
}

// classIn looks for a word or a status in an object, and in the errors that the object may hold.
func classIn(o map[string]any) (class trace.Class) {
	for _, key := range []string{ // a code says more than a type, such as OpenAI's invalid_request_error
		"errorKind", "errorName", "codexErrorInfo", "code", "status", "statusCode", "status_code", "httpStatus", "http_status", "httpStatusCode", "type", "kind", "name",
	} {
		switch v := o[key].(type) {
		case string:
			class = cmp.Or(class, classOfWord(v))
		case float64:
			class = cmp.Or(class, trace.ClassOfStatus(int(v)))
		}
	}
	for _, key := range []string{"error", "data", "cause"} {
		if inner, ok := o[key].(map[string]any); ok {
			class = cmp.Or(class, classIn(inner))
		}
	}
	return class
}

// classOfWord knows the words of the model's providers and of the agents: Anthropic's and OpenAI's
// types and codes of errors, Google's statuses, the kinds of the Claude Agent SDK, the names of OpenCode,
// the words of Codex, the codes of Node.js.
func classOfWord(word string) trace.Class {
	word = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(word))
	switch strings.TrimSuffix(word, "error") {
	case "authentication", "authenticationfailed", "authrequired", "permissiondenied", "unauthenticated", "unauthorized",
		"forbidden", "invalidapikey", "providerauth", "oauthorgnotallowed":
		return trace.ClassAuth
	case "ratelimit", "ratelimitexceeded", "billing", "insufficientquota", "resourceexhausted", "usagelimitexceeded", "quotaexceeded":
		return trace.ClassRateLimit
	case "overloaded", "server", "internalserver", "serveroverloaded", "unavailable", "serviceunavailable":
		return trace.ClassOverloaded
	case "timeout", "connection", "apiconnection", "httpconnectionfailed", "responsestreamdisconnected", "deadlineexceeded", "econnrefused", "econnreset", "etimedout", "enotfound":
		return trace.ClassNetwork
	case "invalidrequest", "badrequest", "invalidargument", "modelnotfound":
		return trace.ClassRequest
	case "requesttoolarge", "contextlengthexceeded", "contextwindowexceeded", "contextoverflow":
		return trace.ClassContext
	case "maxoutputtokens", "messageoutputlength", "maxturns":
		return trace.ClassLimit
	}
	return ""
}

// statusInText is the HTTP status with which the clients of OpenAI and Anthropic begin their errors,
// or which Codex names in its own.
var statusInText = regexp.MustCompile(`^(?:API Error: )?([45]\d\d)[ :]|\bstatus:? ([45]\d\d)\b`) //nolint:gochecknoglobals // compiled once

func classOfText(text string) trace.Class {
	found := append(statusInText.FindStringSubmatch(text), "", "", "")
	status, _ := strconv.Atoi(cmp.Or(found[1], found[2])) // no digits are no status
	return trace.ClassOfStatus(status)
}
