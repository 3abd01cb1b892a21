package claude

import (
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// failure is an error of the model's provider, as a message without a model tells it.
type failure struct {
	text   string
	word   string // the kind of error
	detail string // a narrower word, which most errors do not have
	status int    // of the provider's answer; 0 if there was none
}

// class is the kind of failure that ended a turn. The narrower of the agent's words counts before
// the wider, and the status of the provider's answer last.
func (r result) class(c *turn) trace.Class {
	known, text := classes(), strings.ToLower(string(r.Result)+" "+strings.Join(r.Errors, " ")+" "+c.fault.text)
	for _, word := range []string{r.APIError, c.fault.detail, r.TerminalReason} {
		if class := known[word]; class != "" {
			return class
		}
	}
	if strings.Contains(text, "prompt is too long") {
		return trace.ClassContext
	}
	if class := known[c.fault.word]; class != "" {
		return class
	}
	return trace.ClassOfStatus(max(r.Status, c.fault.status))
}

// classes are the classes of Claude Code's words for failures, as version 2.1.332 has them:
// of api_error, of terminal_reason and of the error of a message.
func classes() map[string]trace.Class {
	all := map[string]trace.Class{}
	for class, words := range map[trace.Class]string{
		trace.ClassAuth: "authentication_failed oauth_org_not_allowed account_on_hold verification_required cloud_credential_error " +
			"stored_login_refused oauth_refresh_store_refused provider_credentials gateway_signin_required gateway_session_expired " +
			"api_key_auth_disabled org_disabled_credential invalid_credential_header",
		trace.ClassRateLimit:  "rate_limit billing_error usage_limit_reached model_requires_usage_credits long_context_credits_required",
		trace.ClassOverloaded: "overloaded server_error",
		trace.ClassNetwork:    "connection_failed stream_idle_timeout no_response computer_slept tls_untrusted_ca tls_cert_signature_failure",
		trace.ClassRequest: "invalid_request model_not_found image_error effort_requires_thinking advisor_incompatible tool_history_mismatch " +
			"pdf_too_large pdf_password_protected dlp_request_denied",
		trace.ClassContext: "prompt_too_long blocking_limit rapid_refill_breaker autocompact_thrashing",
		trace.ClassLimit:   "max_output_tokens max_turns budget_exhausted structured_output_retry_exhausted",
	} {
		for word := range strings.FieldsSeq(words) {
			all[word] = class
		}
	}
	return all
}
