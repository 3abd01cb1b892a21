package openai

import (
	"cmp"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"syscall"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/trace"
)

// explain says in one sentence what failed and what to do.
func (e endpoint) explain(err error) error {
	reason, sentence := sentenceFor(err)
	fill := strings.NewReplacer("{url}", address.Public(e.URL), "{model}", e.Model, "{agent}", "agents."+e.name(), "{why}", e.redacted(err))
	return &toolloop.Fault{Reason: reason, Class: classOf(err), Sentence: fill.Replace(sentence)}
}

// redacted is the cause of an error without the secrets of the address, and without the key,
// which some servers repeat.
func (e endpoint) redacted(err error) string {
	text := address.Redact(innermost(err).Error(), e.URL)
	if e.key != "" {
		text = strings.ReplaceAll(text, e.key, "…")
	}
	return text
}

func sentenceFor(err error) (reason, sentence string) {
	_, silent := errors.AsType[silentError](err)
	_, strange := errors.AsType[strangeError](err)
	_, tooMuch := errors.AsType[tooMuchError](err)
	f, failed := errors.AsType[*failure](err)
	switch {
	case failed:
		return f.sentence()
	case silent:
		return "timeout", "The endpoint {url} was {why}: see whether it still works, or raise {agent}.options.patience."
	case errors.Is(err, errNothing):
		return "error", "The endpoint {url} sent an empty answer: ask again."
	case errors.Is(err, errUnfinished):
		return "error", "The answer of {url} stopped without a sign of its end: ask again."
	case tooMuch:
		return "error", "The endpoint {url} sent {why} in one answer: ask for a shorter answer."
	case isBroken(err):
		return "error", "The connection to {url} ended in the middle of the answer: ask again."
	case errors.Is(err, errNotAnAPI):
		return "error", "{url} answers with a web page and not as a model's endpoint: correct {agent}.url, which often ends with /v1."
	case strange:
		return "error", "The endpoint {url} sent what is no answer of a model ({why}): see whether {agent}.url and options.api fit it."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "agent_unavailable", "Nothing answers at {url}: start the endpoint, or correct {agent}.url."
	default:
		return "agent_unavailable", "The endpoint {url} cannot be reached ({why}): see whether it runs, or correct {agent}.url."
	}
}

// tooLong recognises the words of servers that have no code for it.
var tooLong = regexp.MustCompile(`(?i)context[ _]length|maximum context|context size|context window|(prompt|input) is too long|reduce the length`)

func (f *failure) sentence() (reason, sentence string) {
	switch {
	case f.status == http.StatusUnauthorized, f.status == http.StatusForbidden:
		return "error", "The endpoint {url} refuses the key ({why}): set {agent}.token_env to an environment variable with a valid key."
	case tooLong.MatchString(f.code + " " + f.message):
		return "context_length", "The conversation is longer than the model {model} can read: begin a new session, or set {agent}.options.context_tokens so that earlier turns are summarised in time."
	case strings.Contains(f.message, "does not support tools"):
		return "error", "The model {model} cannot call tools: set {agent}.options.tools to [] or choose another model."
	case f.status == 0 && f.late:
		return "error", "The endpoint broke the answer off ({why}): ask again."
	case f.status == 0:
		return "error", "The endpoint reported an error ({why}): ask again."
	case f.status == http.StatusNotFound:
		return "error", "The endpoint {url} does not know the model {model}, or has no such address ({why}): correct {agent}.model or {agent}.url."
	case f.code == noQuota:
		return "error", "The endpoint's account has no quota left ({why}): see to its billing."
	case f.status == http.StatusTooManyRequests:
		return "error", "The endpoint takes no more requests for now ({why}): ask again later."
	case f.status >= 500:
		return "error", "The endpoint failed ({why}): ask again later."
	default:
		return "error", "The endpoint refused the request ({why}): see whether model, options.api and options.params of {agent} fit it."
	}
}

// classOf is the kind of failure of a model call.
func classOf(err error) trace.Class {
	_, strange := errors.AsType[strangeError](err)
	_, tooMuch := errors.AsType[tooMuchError](err)
	f, failed := errors.AsType[*failure](err)
	switch {
	case failed:
		return f.class()
	case strange, tooMuch, errors.Is(err, errNotAnAPI):
		return "" // it may be no endpoint of a model at all
	default:
		return trace.ClassNetwork
	}
}

// class is the kind of failure that the endpoint reports. Servers report some errors with a
// status that says less than their code.
func (f *failure) class() trace.Class {
	words := strings.ToLower(f.code + " " + f.kind)
	switch class := trace.ClassOfStatus(f.status); {
	case class == trace.ClassAuth:
		return class
	case tooLong.MatchString(words + " " + f.message):
		return trace.ClassContext
	case strings.Contains(words, "quota"), strings.Contains(words, "rate_limit"):
		return trace.ClassRateLimit
	case class != "":
		return class
	}
	class := cmp.Or(trace.ClassOfWord(f.code), trace.ClassOfWord(f.kind))
	if class == "" && strings.Contains(words, "invalid") {
		class = trace.ClassRequest
	}
	return class
}
