package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/gateway/metrics"
	"github.com/tributary-dev/tributary/session"
)

// A dismissed client is no error of the agent or of the way to it: neither a
// token's end nor the end of a membership counts as one.
func TestI10_WhoIsSentAwayIsCountedAsThat(t *testing.T) {
	for name, put := range map[string]func(t *testing.T, h http.Handler, p *access.Principal){
		"expired": func(_ *testing.T, _ http.Handler, p *access.Principal) { p.Expires = time.Now().Add(3 * time.Second) },
		"put out": func(t *testing.T, h http.Handler, _ *access.Principal) {
			t.Helper()
			time.AfterFunc(time.Second, func() { askAs(t, h, owner("ada"), "DELETE", "/api/sessions/s/members/bob", "") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				meter := metrics.New("far")
				h, end := newHandler(t, memlog.New(), func(o *session.Options) {
					o.Agents["far"] = session.Agent{Runtime: far{}, Cwd: t.TempDir()}
				}, func(o *gateway.Options) {
					o.Private, o.Meter, o.Guard = true, meter, func(next http.Handler) http.Handler { return next }
				})
				defer end()
				askAs(t, h, owner("ada"), "POST", "/api/sessions", `{"id":"s","agent":"far"}`)
				askAs(t, h, owner("ada"), "PUT", "/api/sessions/s/members/bob", `{"role":"collaborator"}`)
				bob := access.Principal{ID: "bob", Role: access.Viewer}
				put(t, h, &bob)
				stream := askAs(t, h, bob, "POST", "/api/chat", submit("s", "u1", "be silent"))
				if !strings.Contains(stream, `"type":"error"`) || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
					t.Errorf("the stream is %s", stream)
				}
				numbers := askAs(t, h, owner("ada"), "GET", "/metrics", "")
				for series, want := range map[string]string{
					"tributary_chat_requests_total": "1", "tributary_chat_revocations_total": "1", "tributary_chat_errors_total": "0",
					"tributary_chat_server_aborts_total": "0", "tributary_chat_client_aborts_total": "0", "tributary_chat_duration_seconds_count": "0",
				} {
					if line := series + `{agent="far"} ` + want + "\n"; !strings.Contains(numbers, line) {
						t.Errorf("not %s", line)
					}
				}
			})
		})
	}
}

func owner(who string) access.Principal { return access.Principal{ID: who, Role: access.Admin} }

// askAs is the whole answer to a request of somebody.
func askAs(t *testing.T, h http.Handler, p access.Principal, method, path, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(access.With(t.Context(), p), method, path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	w := newAnswer()
	h.ServeHTTP(w, r)
	return w.text()
}
