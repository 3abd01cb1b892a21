package agentops_test

import (
	"net/http"
	"testing"
)

// Where no agent is driven by a runner, there is no token that could be right or wrong.
func TestWithoutAnAgentThatIsDrivenThereIsNoRunner(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"s"}`)
	for _, path := range []string{"/api/sessions/s/ws?role=runner&token=x", "/api/sessions/none/ws?role=runner&token=x", "/api/sessions/s/ws?role=runner"} {
		if _, res, err := s.socket(path, nil); err == nil || res == nil || res.StatusCode != http.StatusServiceUnavailable { //nolint:bodyclose // there is none
			t.Errorf("%s: %v %v", path, res, err)
		}
	}
}
