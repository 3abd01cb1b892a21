package trace

import (
	"strconv"
	"strings"
)

// This file tells failures of a model's server apart.

// ClassOfStatus is the class of a failure that a model's server tells by the status of its HTTP
// answer; empty for a status that is no failure.
func ClassOfStatus(status int) Class {
	switch {
	case status == 401 || status == 403:
		return ClassAuth
	case status == 402 || status == 429:
		return ClassRateLimit
	case status == 408 || status == 504:
		return ClassNetwork
	case status == 413:
		return ClassContext
	case status >= 500 && status <= 599:
		return ClassOverloaded
	case status >= 400 && status <= 499:
		return ClassRequest
	}
	return ""
}

// ClassOfWord is the class of a failure by a word of the provider of a model, of its libraries, or of an agent:
// a type, code, status or name of an error, or the status of an HTTP answer. Neither case, "_", "-", space nor an
// "Error" at the end counts. The class is empty for any other word, because an application's own failure is none of
// the provider. The words are those of OpenAI (https://platform.openai.com/docs/guides/error-codes), Anthropic
// (https://docs.anthropic.com/en/api/errors), Google's statuses, Claude Code (version 2.1.332: api_error,
// terminal_reason, and the error of a message), Codex, OpenCode, Open Harness, LangGraph and Node.js.
func ClassOfWord(word string) Class {
	if status, err := strconv.Atoi(word); err == nil {
		return ClassOfStatus(status)
	}
	word = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(word))
	switch strings.TrimSuffix(word, "error") {
	case "auth", "authentication", "authenticationfailed", "authrequired", "permission", "permissiondenied", "unauthenticated", "unauthorized",
		"forbidden", "invalidapikey", "providerauth", "oauthorgnotallowed",
		"accountonhold", "verificationrequired", "cloudcredential", "storedloginrefused", "oauthrefreshstorerefused", "providercredentials",
		"gatewaysigninrequired", "gatewaysessionexpired", "apikeyauthdisabled", "orgdisabledcredential", "invalidcredentialheader":
		return ClassAuth
	case "ratelimit", "ratelimitexceeded", "billing", "quota", "quotaexceeded", "insufficientquota", "resourceexhausted", "usagelimitexceeded",
		"usagelimitreached", "modelrequiresusagecredits", "longcontextcreditsrequired":
		return ClassRateLimit
	case "overloaded", "engineoverloaded", "server", "internalserver", "serveroverloaded", "unavailable", "serviceunavailable",
		"flexunavailable", "policycapacityunavailable":
		return ClassOverloaded
	case "timeout", "apitimeout", "apiconnectiontimeout", "connection", "apiconnection", "network", "httpconnectionfailed",
		"responsestreamconnectionfailed", "responsestreamdisconnected", "responsetoomanyfailedattempts", "deadlineexceeded", "econnrefused", "econnreset", "etimedout", "enotfound",
		"connectionfailed", "streamidletimeout", "noresponse", "computerslept", "tlsuntrustedca", "tlscertsignaturefailure":
		return ClassNetwork
	case "invalidrequest", "badrequest", "unprocessableentity", "invalidargument", "modelnotfound", "cyberpolicy", "biopolicy", "misalignmentpolicyviolation",
		"image", "effortrequiresthinking", "advisorincompatible", "toolhistorymismatch", "pdftoolarge", "pdfpasswordprotected", "dlprequestdenied":
		return ClassRequest
	case "context", "contextlength", "contextlengthexceeded", "contextwindowexceeded", "contextoverflow", "requesttoolarge",
		"prompttoolong", "blockinglimit", "rapidrefillbreaker", "autocompactthrashing":
		return ClassContext
	case "limit", "maxturns", "maxbudget", "budget", "sessionbudgetexceeded", "maxoutputtokens", "messageoutputlength", "graphrecursion",
		"structuredoutput", "budgetexhausted", "structuredoutputretryexhausted":
		return ClassLimit
	}
	return ""
}
