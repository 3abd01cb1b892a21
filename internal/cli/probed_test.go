package cli

import (
	"net/http"
	"strings"
	"testing"
)

// A kubelet and the health check of a load balancer ask by the address of a pod or a machine,
// which no configuration can name before it is given.
func TestHealthChecksAreAnsweredByEveryAddress(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"standard":        "",
		"behind a proxy":  "{public_url: \"https://agents.example.com\"}",
		"for one machine": "auth: {mode: none}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServerAsIs(t, t.TempDir(), "--config", file(t, "tributary.yaml", text))
			s.base = "http://" + listens(t, s)
			for request, want := range map[string]int{
				"GET /healthz HTTP/1.1\r\nHost: 10.1.2.3:8787":                                    http.StatusOK,
				"HEAD /readyz HTTP/1.1\r\nHost: tributary.agents.svc:8787":                        http.StatusOK,
				"GET /readyz HTTP/1.1\r\nHost: [fd00::7]:8787\r\nUser-Agent: kube-probe/1.31":     http.StatusOK,
				"GET /readyz HTTP/1.1\r\nHost: [fe80::1%25eth0]:8787":                             http.StatusOK,
				"GET /healthz HTTP/1.0":                                                           http.StatusOK,
				"GET /healthz HTTP/1.1\r\nHost: 10.1.2.3\r\nOrigin: http://10.1.2.3":              http.StatusOK,
				"GET /healthz HTTP/1.1\r\nHost: 10.1.2.3\r\nAuthorization: Bearer wrong":          http.StatusOK,
				"POST /healthz HTTP/1.1\r\nHost: 10.1.2.3\r\nContent-Length: 0":                   http.StatusForbidden,
				"GET /healthz/ HTTP/1.1\r\nHost: 10.1.2.3":                                        http.StatusForbidden,
				"GET /metrics HTTP/1.1\r\nHost: 10.1.2.3:8787":                                    http.StatusForbidden,
				"GET /api/sessions HTTP/1.1\r\nHost: 10.1.2.3:8787":                               http.StatusForbidden,
				"GET /api/sessions HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example": http.StatusForbidden,
			} {
				_, r := s.dial(request + "\r\nConnection: close\r\n\r\n")
				res, err := http.ReadResponse(r, &http.Request{Method: strings.Fields(request)[0]})
				if err != nil {
					t.Fatalf("%s: %v", request, err)
				}
				_ = res.Body.Close()
				if res.StatusCode != want {
					t.Errorf("%s: %s", request, res.Status)
				}
			}
		})
	}
}

// A flood of connections is no reason to end the process: the liveness check is answered while
// all others are refused.
func TestHealthChecksAreAnsweredWhenAllConnectionsAreTaken(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", "limits: {connections: 1}"))
	_, held := s.dial(openPage)
	answer(t, held)
	for request, want := range map[string]int{openPage: http.StatusServiceUnavailable, "GET /healthz HTTP/1.1\r\nHost: 10.1.2.3:8787\r\n\r\n": http.StatusOK} {
		_, r := s.dial(request)
		if res, body := answer(t, r); res.StatusCode != want || !res.Close {
			t.Errorf("%s: %s %s", request, res.Status, body)
		}
	}
}

// listens is the address in the line "ready" of the log: a gateway with a public URL prints that one.
func listens(t *testing.T, s *server) string {
	t.Helper()
	_, rest, found := strings.Cut(s.errors.String(), `"listen":"`)
	if !found {
		t.Fatalf("no ready line in the log:\n%s", s.errors)
	}
	address, _, _ := strings.Cut(rest, `"`)
	return address
}
