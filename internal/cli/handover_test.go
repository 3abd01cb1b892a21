package cli

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// counting is an app whose chat route counts until finish is closed. A resume has it from its beginning.
func counting(t *testing.T, finish <-chan struct{}) http.Handler {
	t.Helper()
	began := time.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/stop") {
			t.Error("the app is asked to stop the turn")
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
		say := func(format string, args ...any) {
			_, _ = fmt.Fprintf(w, "data: "+format+"\n\n", args...)
			_ = http.NewResponseController(w).Flush()
		}
		say(`{"type":"start","messageId":"m1"}`)
		say(`{"type":"text-start","id":"t"}`)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for said := 0; ; {
			select {
			case <-tick.C:
				for ; said < int(time.Since(began)/(10*time.Millisecond)); said++ {
					say(`{"type":"text-delta","id":"t","delta":"%d "}`, said)
				}
				continue
			case <-finish:
			case <-r.Context().Done():
				return
			}
			say(`{"type":"text-end","id":"t"}`)
			say(`{"type":"finish"}`)
			say("[DONE]")
			return
		}
	})
}

// A gateway that stops hands the turn of an agent on another server over, while turns of its own run to their end. A client whose stream another gateway passes on
// notices nothing. Its own client is told to come back.
//
//evidence:for promise-cluster
func TestAStoppedGatewayHandsItsRemoteTurnsOver(t *testing.T) {
	t.Parallel()
	finish := make(chan struct{})
	app := httptest.NewServer(counting(t, finish))
	t.Cleanup(app.Close)
	db := postgres.Database(t)
	conf := file(t, "tributary.yaml", "cluster: {listen: \"127.0.0.1:0\"}\ndefault_agent: app\nagents: {demo: {options: {pace: 10ms}}, app: {adapter: uiendpoint, url: "+app.URL+"/api/chat, options: {resume: true, stop: true}}}\n")
	first := startServer(t, t.TempDir(), "--config", conf, "--db", db)
	second := startServer(t, t.TempDir(), "--config", conf, "--db", db)
	own := make(chan string, 1)
	go func() {
		_, stream := first.do("POST", "/api/chat", chat("s", "count"))
		own <- stream
	}()
	second.has("the turn runs", "/api/sessions/s", `"state":"running"`)
	res := second.request("GET", "/api/chat/s/stream", "")
	defer res.Body.Close()
	var passed strings.Builder
	lines := bufio.NewScanner(io.TeeReader(res.Body, &passed))
	for range 10 {
		if !finds(lines, "text-delta") {
			t.Fatalf("the stream that is passed on: %s", passed.String())
		}
	}
	local := first.request("POST", "/api/chat?agent=demo", chat("t", "slow"))
	defer local.Body.Close()
	followed := second.request("GET", "/api/chat/t/stream", "")
	defer followed.Body.Close()
	first.signals <- syscall.SIGTERM
	if stream := <-own; !strings.Contains(stream, "The turn goes on without this gateway: reload the page in a moment.") || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("the client of the gateway that stops has %q", stream[max(0, len(stream)-300):])
	}
	for range 10 {
		if !finds(lines, "text-delta") {
			t.Fatalf("the stream does not go on: %s", passed.String())
		}
	}
	close(finish)
	for lines.Scan() { //nolint:revive // to the end
	}
	stream, words := passed.String(), 0
	for line := range strings.Lines(stream) {
		_, delta, is := strings.Cut(line, `"delta":"`)
		for word := range strings.FieldsSeq(strings.TrimSuffix(strings.TrimSpace(delta), `"}`)) {
			if is && word != strconv.Itoa(words) {
				t.Fatalf("the stream says %s in the place of %d", word, words)
			}
			words++
		}
	}
	if strings.Contains(stream, `"error"`) || !strings.HasSuffix(stream, "data: [DONE]\n\n") || words < 30 {
		t.Errorf("the stream that was passed on has %d words, and ends with %q", words, stream[max(0, len(stream)-300):])
	}
	for who, res := range map[string]*http.Response{"its client": local, "a client of the other gateway": followed} {
		if !finds(bufio.NewScanner(res.Body), `"type":"finish"`) {
			t.Errorf("%s has no end of the other turn", who)
		}
	}
	if status := first.wait(); status != exitOK {
		t.Errorf("the first gateway ended with %d\n%s", status, first.errors)
	}
}

// A gateway that stops passes the streams of other gateways on while there is time, and has the clients of the others come back. Their turns
// have a minute for that.
//
//evidence:for promise-cluster
func TestAStoppedGatewayCutsNoStreamOfAnother(t *testing.T) {
	t.Parallel()
	db := postgres.Database(t)
	conf := file(t, "tributary.yaml", "cluster: {listen: \"127.0.0.1:0\"}\nsessions: {drain: 4s, grace: 500ms, grace_limit: 500ms}\nagents: {demo: {options: {pace: 4ms}}, lasting: {adapter: demo, options: {pace: 16ms}}}\n")
	owner := startServer(t, t.TempDir(), "--config", conf, "--db", db, "--agent", "demo")
	passing := startServer(t, t.TempDir(), "--config", conf, "--db", db, "--agent", "demo")
	owner.do("POST", "/api/chat?agent=lasting", chat("lasting", "hello"))
	owner.do("POST", "/api/chat", chat("quick", "hello"))
	lasting, quick := passing.request("POST", "/api/chat", chat("lasting", "slow")), passing.request("POST", "/api/chat", chat("quick", "slow"))
	defer lasting.Body.Close()
	defer quick.Body.Close()
	if !finds(bufio.NewScanner(lasting.Body), "text-delta") || !finds(bufio.NewScanner(quick.Body), "text-delta") {
		t.Fatal("the turns say nothing")
	}
	passing.signals <- syscall.SIGTERM
	if !finds(bufio.NewScanner(quick.Body), `"type":"finish"`) {
		t.Error("the stream that ends in time was cut")
	}
	rest, err := io.ReadAll(lasting.Body)
	if err != nil || !strings.Contains(string(rest), "The gateway is stopping: reload the page in a moment.") || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the stream that does not ends with %v and %q", err, rest[max(0, len(rest)-300):])
	}
	if status := passing.wait(); status != exitOK {
		t.Errorf("the gateway ended with %d\n%s", status, passing.errors)
	}
	owner.has("the turn is over", "/api/sessions/lasting", `"state":"idle"`)
	if _, trace := owner.do("GET", "/api/sessions/lasting/trace", ""); strings.Count(trace, `"outcome":"completed"`) != 2 {
		t.Errorf("the turn did not go on without its client: %s", trace[max(0, len(trace)-600):])
	}
}
