package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/export/otlp/otlptest"
)

// exported waits until the receiver has these turns, in their order in each session.
func exported(t *testing.T, r *otlptest.Receiver, want int) (roots []otlptest.Span) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		roots = nil
		for _, s := range r.Spans() {
			if strings.HasPrefix(s.Name, "invoke_agent demo") {
				roots = append(roots, s)
			}
		}
		if len(roots) >= want || time.Now().After(deadline) {
			break
		}
	}
	if len(roots) != want || r.Faults() != nil {
		t.Errorf("the receiver has %d turns, want %d; %v", len(roots), want, r.Faults())
	}
	return roots
}

func (s *server) say(id, text string) {
	s.t.Helper()
	body := fmt.Sprintf(`{"id":%q,"messages":[{"id":"m%d","role":"user","parts":[{"type":"text","text":%q}]}],"trigger":"submit-message"}`, id, time.Now().UnixNano(), text)
	if status, answer := s.do("POST", "/api/chat", body); status != 200 {
		s.t.Fatal(answer)
	}
}

// A gateway sends each turn to its exporters: those that ended while a receiver was down after a restart,
// and none of before the exporter was there. No log, answer or metric has the keys of an exporter.
//
//evidence:for ops-live-export
func TestServeExports(t *testing.T) {
	t.Setenv("EXPORT_KEY", "Basic c2VjcmV0LWtleQ==")
	t.Setenv("EXPORT_VIEWER", "viewer-0123456789abcdef0123")
	var down atomic.Bool
	var authorization atomic.Value
	r := &otlptest.Receiver{Answer: func(_ int, w http.ResponseWriter, req *http.Request) bool {
		authorization.Store(req.Header.Get("Authorization"))
		if down.Load() {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, "no such key: c2VjcmV0LWtleQ== of query-secret")
		}
		return down.Load()
	}}
	receiver := httptest.NewServer(r)
	t.Cleanup(receiver.Close)
	data := t.TempDir()
	before := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))
	before.say("one", "hello")
	before.stop()

	conf := file(t, "t.yaml", quickDemo+"\nauth: {tokens: [{name: vera, role: viewer, token_env: EXPORT_VIEWER}]}\nexporters:\n  main:\n    url: "+receiver.URL+
		"/v1/traces?token=query-secret\n    headers: {Authorization: env:EXPORT_KEY}\n    content: [prompt]\n    gateway: true\n")
	command(t, "", "config", "check", "--config", conf).want(t, exitOK, "")
	if r.Requests() != 0 {
		t.Error("a check has sent something")
	}
	s := startServer(t, data, "--config", conf)
	s.say("one", "tool")
	s.say("two", "hello")
	exported(t, r, 2)
	if authorization.Load() != "Basic c2VjcmV0LWtleQ==" {
		t.Errorf("the header is %v", authorization.Load())
	}
	own := 0
	for _, span := range r.Spans() {
		if strings.HasPrefix(span.Name, "gateway: ") {
			own++
		}
		if text := fmt.Sprint(span.Attrs); !strings.HasPrefix(span.Name, "invoke_agent") && (strings.Contains(text, "tool.call.arguments") || strings.Contains(text, "Hello")) {
			t.Errorf("content that may not leave: %s", text)
		}
	}

	if own != 2*5 { // of each turn: the request, admission, the queue, the agent's start, its first words
		t.Errorf("%d spans of the gateway's own work", own)
	}

	down.Store(true)
	s.say("one", "hello")
	s.say("one", "hello")
	var status struct {
		Exporters []struct {
			Name, Receiver                          string
			Turns, Waiting, Failures, Dropped       int
			LastSent, FailingSince, LastFailureTime *time.Time
			LastFailure                             string `json:"last_failure"`
		}
	}
	told := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		_, told = s.do("GET", "/api/exporters", "")
		if err := json.Unmarshal([]byte(told), &status); err != nil {
			t.Fatal(err)
		}
		if e := status.Exporters; len(e) == 1 && e[0].Failures > 0 && e[0].Waiting == 2 {
			break
		}
	}
	if e := status.Exporters; len(e) != 1 || e[0].Name != "main" || e[0].Receiver != receiver.URL+"/v1/traces" || e[0].Turns != 2 || e[0].Waiting != 2 || !strings.Contains(e[0].LastFailure, "does not accept the key (status 401: no such key: …") {
		t.Errorf("%s", told)
	}
	_, metrics := s.do("GET", "/metrics", "")
	for _, line := range []string{
		`tributary_export_turns_total{exporter="main"} 2`, `tributary_export_waiting_turns{exporter="main"} 2`,
		`tributary_export_spans_dropped_total{exporter="main"} 0`, `tributary_export_failing_seconds{exporter="main"}`, `tributary_export_failures_total{exporter="main"}`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no %s in the metrics", line)
		}
	}
	admin := s.token
	s.token = "viewer-0123456789abcdef0123"
	if status, _ := s.do("GET", "/api/exporters", ""); status != http.StatusForbidden {
		t.Errorf("a viewer gets %d", status)
	}
	s.token = admin
	s.stop()
	down.Store(false)
	second := startServer(t, data, "--config", conf)
	roots := exported(t, r, 4)
	for _, all := range []string{told, metrics, s.errors.String(), second.errors.String()} {
		if strings.Contains(all, "c2Vj") || strings.Contains(all, "query-secret") {
			t.Errorf("a secret is told: %s", all)
		}
	}
	if len(roots) == 4 && roots[0].Attrs["service.name"] != nil {
		t.Error(roots[0])
	}
}

func TestExportersThatCannotBe(t *testing.T) {
	t.Parallel()
	for conf, want := range map[string]string{
		"{url: https://x.example, headers: {Authorization: env:NO_SUCH_VARIABLE}}": "exporters.x.headers.Authorization names NO_SUCH_VARIABLE, and there is no such environment variable: set it",
		"{url: http://x.example}":                                          "exporters.x cannot be used: the receiver http://x.example is on another machine",
		"{url: http://x.example, allow_http: true}":                        "",
		"{url: 'https://ann:secret@x.example'}":                            "exporters.x cannot be used: the address of the receiver https://x.example has a password in it",
		"{url: https://x.example, headers: {Content-Type: a}}":             "exporters.x cannot be used: the program sets the header Content-Type itself",
		"{url: https://x.example, agents: [demo, claud]}":                  `exporters.x.agents names "claud", which is no agent: there are demo`,
		"{url: https://x.example, content: none, backfill: true}":          "",
		"{url: https://x.example, no_denied: true, no_subagents: true}":    "",
		"{url: https://x.example, headers: {x-mlflow-experiment-id: '0'}}": "",
	} {
		got := command(t, "", "config", "check", "--config", file(t, "t.yaml", "agents: {demo: {}}\nexporters:\n  x: "+conf+"\n"))
		if want == "" {
			got.want(t, exitOK, "")
		} else {
			got.want(t, exitUsage, want)
		}
		if strings.Contains(got.errors, "secret@") {
			t.Error(got.errors)
		}
	}
}

// An agent does not get the key of an exporter.
func TestExportersKeysAreSecrets(t *testing.T) {
	t.Setenv("ANTHROPIC_EXPORT", "secret")
	s, err := load(builtIn(), file(t, "t.yaml", "agents: {demo: {}}\nexporters: {x: {url: https://x.example, headers: {Authorization: env:ANTHROPIC_EXPORT}}}"), flags{cwd: t.TempDir()})
	if err != nil || !slices.Contains(s.SecretVariables(), "ANTHROPIC_EXPORT") {
		t.Errorf("%v %v", s.SecretVariables(), err)
	}
}
