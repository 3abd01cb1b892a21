package acp

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/internal/httpjson"
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

// generic are the titles of JSON-RPC's errors, and other texts that do not say what happened.
var generic = regexp.MustCompile(`(?i)^((internal|server|unknown|unexpected|agent|request|prompt) *)*(error|failed|failure)?\W*$`) //nolint:gochecknoglobals // compiled once

// explain finds the words in an error that say what happened. They may stand in the data, in any form.
func explain(e jsonrpc.Error) string {
	message := httpjson.Plain(e.Message)
	if at := len("Internal error:"); len(message) > at && strings.EqualFold(message[:at], "Internal error:") {
		message = httpjson.Plain(strings.TrimSpace(message[at:]))
	}
	said := ""
	if text := parse[string](e.Data); text != "" {
		said = httpjson.Plain(text)
	} else {
		said = httpjson.Sentence(e.Data)
	}
	few := len(strings.Fields(message)) < 4 // such as Invalid params
	switch {
	case generic.MatchString(message) && said != "":
		return said
	case few && strings.Contains(said, " ") && !strings.Contains(message, said):
		return strings.TrimRight(message, ".: ") + ": " + said
	}
	return cmp.Or(message, e.Error())
}

// classOf says what kind of failure an error is, if the agent tells. The code may tell it, a word or an
// HTTP status beside the text, or the status with which the text begins.
func classOf(e jsonrpc.Error) trace.Class {
	if e.Code == codeAuth {
		return trace.ClassAuth
	}
	return cmp.Or(classIn(parse[any](e.Data), 0), classIn(e.Message, 0), trace.ClassOfStatus(e.Code), classOfText(explain(e)))
}

// classIn looks for a word or a status in a value, and in the errors that the value may hold. Some write JSON as text.
func classIn(v any, depth int) (class trace.Class) {
	const deepest = 6
	switch v := v.(type) {
	case string:
		if at := strings.IndexAny(v, "{["); at >= 0 && depth < deepest {
			return classIn(parse[any](raw(v[at:])), depth+1)
		}
	case []any:
		if len(v) > 0 && depth < deepest {
			return classIn(v[0], depth+1)
		}
	case map[string]any:
		known := map[string]any{}
		for key, value := range v {
			known[folded(key)] = value
		}
		for _, key := range []string{ // a code says more than a type, such as OpenAI's invalid_request_error
			"errorkind", "errorname", "codexerrorinfo", "code", "status", "statuscode", "httpstatus", "httpstatuscode", "type", "kind", "name",
		} {
			switch word := known[key].(type) {
			case string:
				class = cmp.Or(class, trace.ClassOfWord(word))
			case float64:
				class = cmp.Or(class, trace.ClassOfStatus(int(word)))
			}
		}
		for _, key := range []string{"error", "errors", "data", "details", "cause"} {
			if depth < deepest {
				class = cmp.Or(class, classIn(known[key], depth+1))
			}
		}
	}
	return class
}

// statusInText is the HTTP status with which the clients of OpenAI and Anthropic begin their errors,
// or which Codex names in its own.
var statusInText = regexp.MustCompile(`^(?:API Error: )?([45]\d\d)[ :]|\bstatus:? ([45]\d\d)\b`) //nolint:gochecknoglobals // compiled once

func classOfText(text string) trace.Class {
	found := append(statusInText.FindStringSubmatch(text), "", "", "")
	status, _ := strconv.Atoi(cmp.Or(found[1], found[2])) // no digits are no status
	return trace.ClassOfStatus(status)
}
