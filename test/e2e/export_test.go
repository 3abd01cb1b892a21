package e2e

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/export/otlp/otlptest"
)

// spanStore is a receiver that notes spans that come again with other content.
type spanStore struct {
	otlptest.Receiver

	seen           map[string]otlptest.Span
	again, differs int
}

func newSpanStore() *spanStore {
	s := &spanStore{seen: map[string]otlptest.Span{}}
	s.Reject = func(span otlptest.Span) string { // one call at a time
		key := span.Trace + " " + span.ID
		if before, is := s.seen[key]; is {
			if s.again++; !reflect.DeepEqual(before, span) {
				s.differs++
			}
		}
		s.seen[key] = span
		return ""
	}
	return s
}

// exportOf are the spans of an export of whole sessions.
func exportOf(t *testing.T, p *process, sessions []string) []otlptest.Span {
	t.Helper()
	all := &otlptest.Receiver{}
	for _, id := range sessions {
		res := p.request(t.Context(), http.MethodGet, "/api/sessions/"+id+"/export?format=otlp", nil)
		lines, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("export: %s %v %s", res.Status, err, lines)
		}
		for line := range bytes.Lines(lines) {
			req := httptest.NewRequest(http.MethodPost, "/v1/traces", bytes.NewReader(line))
			req.Header.Set("Content-Type", "application/json")
			all.ServeHTTP(httptest.NewRecorder(), req)
		}
	}
	return all.Spans()
}

// Whenever the gateway is killed, each turn that has ended arrives at the receiver, and a span that comes
// twice is the same span.
//
//nolint:paralleltest // the database is busy enough
//evidence:for ops-live-export
func TestKillDuringLiveExport(t *testing.T) {
	rounds := 10
	if os.Getenv("TRIBUTARY_TEST_FULL") != "" {
		rounds = 200
	}
	store := newSpanStore()
	receiver := httptest.NewServer(store)
	t.Cleanup(receiver.Close)
	data, conf := t.TempDir(), filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(conf, []byte("agents: {demo: {options: {pace: 0s}}}\nlog_level: error\nexporters: {x: {url: '"+receiver.URL+"'}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--config", conf, "--cwd", t.TempDir()}
	sessions := []string{"s0", "s1", "s2", "s3"}
	random := agenttest.Random(t)
	scripts := []string{"hello", "tool", "think", "parallel", "subagent", "usage", "long"}
	for range rounds {
		p := start(t, data, os.Environ(), args...)
		var clients sync.WaitGroup
		for _, id := range sessions {
			from := rand.New(rand.NewPCG(random.Uint64(), 0)) //nolint:gosec // no secret
			clients.Go(func() {
				for promptOnce(t, p, id, scripts[from.IntN(len(scripts))]) {
				}
			})
		}
		time.Sleep(time.Duration(random.IntN(250)) * time.Millisecond)
		p.kill()
		clients.Wait()
	}

	p := start(t, data, os.Environ(), args...)
	var want []otlptest.Span
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if want = exportOf(t, p, sessions); len(want) == len(store.Spans()) || time.Now().After(deadline) {
			break
		}
	}
	got, turns := store.Spans(), 0
	for _, s := range want {
		if strings.HasPrefix(s.Name, "invoke_agent demo") {
			turns++
		}
	}
	t.Logf("%d kills, %d turns, %d spans, %d requests, %d spans came again", rounds, turns, len(want), store.Requests(), store.again)
	if turns < rounds || !reflect.DeepEqual(got, want) || store.differs > 0 || store.Faults() != nil {
		t.Errorf("of %d turns and %d spans %d spans arrived; %d came again with other content; %v", turns, len(want), len(got), store.differs, store.Faults())
	}
	p.end()
}

// promptOnce sends a prompt, and reports whether the gateway has answered to the end.
func promptOnce(t *testing.T, p *process, session, text string) bool {
	t.Helper()
	body := fmt.Sprintf(`{"id":%q,"trigger":"submit-message","messages":[{"id":"u%d","role":"user","parts":[{"type":"text","text":%q}]}]}`, session, time.Now().UnixNano(), text)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.Base()+"/api/chat", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return false
	}
	req.Header.Set("Authorization", "Bearer "+p.Token())
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close() //nolint:errcheck // nothing was written
	all, err := io.ReadAll(res.Body)
	return err == nil && bytes.Contains(all, []byte("[DONE]"))
}
