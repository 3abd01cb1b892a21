package gateway

import (
	"net/http"

	"github.com/tributary-dev/tributary/agent"
)

// This file reads trace contexts.

// traceparent reads the W3C Trace Context of a request. A header that is not well-formed, or that
// comes twice, counts as none.
func traceparent(h http.Header) string {
	values := h.Values("Traceparent")
	if len(values) != 1 {
		return ""
	}
	return agent.ParseTraceparent(values[0])
}
