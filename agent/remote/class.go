package remote

import (
	"strconv"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// ClassOf is the class of a failure by the first of the words that tells it. Such a word is the status of a
// provider's answer, or a provider's own word (https://platform.openai.com/docs/guides/error-codes,
// https://docs.anthropic.com/en/api/errors). It may also be the name of the exception that a provider's
// library has raised, or a sentence that begins with the status, as these libraries for Python write it. The
// class is empty for all other words, because an application's own failure is none of the infrastructure.
func ClassOf(words ...string) trace.Class {
	for _, word := range words {
		if c := classOf(word); c != "" {
			return c
		}
	}
	return ""
}

func classOf(code string) trace.Class {
	for _, front := range []string{"Error code: ", "status_code: "} { // of openai and anthropic, and of pydantic-ai
		if rest, ok := strings.CutPrefix(code, front); ok && len(rest) >= 3 {
			code = rest[:3]
		}
	}
	if status, err := strconv.Atoi(code); err == nil {
		return trace.ClassOfStatus(status)
	}
	switch code {
	case "authentication_error", "permission_error", "invalid_api_key", "AuthenticationError", "PermissionDeniedError":
		return trace.ClassAuth
	case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "billing_error", "RateLimitError":
		return trace.ClassRateLimit
	case "overloaded_error", "OverloadedError", "InternalServerError", "ServiceUnavailableError":
		return trace.ClassOverloaded
	case "timeout_error", "APIConnectionError", "APITimeoutError", "APIConnectionTimeoutError":
		return trace.ClassNetwork
	case "context_length_exceeded", "request_too_large", "ContextOverflowError":
		return trace.ClassContext
	case "invalid_request_error", "BadRequestError", "UnprocessableEntityError":
		return trace.ClassRequest
	case "GraphRecursionError": // of LangGraph: the graph has made all its steps
		return trace.ClassLimit
	}
	return ""
}
