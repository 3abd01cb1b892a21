package codex

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/trace"
)

// sentence says what went wrong. The message may be the body of a provider's reply.
func (e turnError) sentence() string {
	text := httpjson.Plain(strings.TrimSpace(e.Message))
	if e.AdditionalDetails != "" && !strings.Contains(text, e.AdditionalDetails) {
		text = strings.TrimSpace(text + ": " + e.AdditionalDetails)
	}
	return text + advice(e.code()+" "+text)
}

// code is the agent's own word for the error.
func (e turnError) code() string {
	if code, _ := word(e.CodexErrorInfo); code != "other" {
		return cmp.Or(code, "error")
	}
	return "error"
}

// class is the kind of failure that the error tells of. The status of the provider's answer counts
// first, if Codex has it, then Codex's own word for the error. codex exec has sentences alone, and
// the word of many errors of the app-server is "other".
func (e turnError) class() trace.Class {
	code, more := word(e.CodexErrorInfo)
	var http struct{ HTTPStatusCode int }
	_ = parse(more, &http) // most words have no status
	return cmp.Or(trace.ClassOfStatus(http.HTTPStatusCode), trace.ClassOfWord(code), e.classOfSentence())
}

// classOfSentence reads the sentence, or the body of a provider's answer in its place.
func (e turnError) classOfSentence() trace.Class {
	text := e.Message + " " + e.AdditionalDetails
	if m := regexp.MustCompile(`(?:unexpected|last) status:? (\d{3})\b`).FindStringSubmatch(text); m != nil {
		status, _ := strconv.Atoi(m[1]) //nolint:errcheck // three digits are a number
		return trace.ClassOfStatus(status)
	}
	var body struct{ Error struct{ Type, Code string } }
	_ = json.Unmarshal([]byte(e.Message), &body) // most messages are no JSON
	for _, sign := range []struct {
		class trace.Class
		words string
	}{
		{trace.ClassContext, "context_length_exceeded|ran out of room in the model's context window"},
		{trace.ClassRateLimit, "insufficient_quota|rate_limit|Quota exceeded|hit your usage limit"},
		{trace.ClassOverloaded, "server_error|is at capacity|experiencing high demand"},
		{trace.ClassRequest, "invalid_request_error"},
		{trace.ClassNetwork, "stream disconnected before completion|request timed out|Connection failed|error sending request"},
		{trace.ClassLimit, "token budget exhausted"},
	} {
		for words := range strings.SplitSeq(sign.words, "|") {
			if strings.Contains(body.Error.Code, words) || strings.Contains(body.Error.Type, words) || body.Error.Type == "" && strings.Contains(text, words) {
				return sign.class
			}
		}
	}
	return ""
}
