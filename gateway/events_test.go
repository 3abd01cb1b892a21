package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
)

// stream is a response of server-sent events that is read line by line.
type stream struct {
	t   *testing.T
	res *http.Response
	in  *bufio.Scanner
	end context.CancelFunc
}

// listen opens a stream; it is closed when the test ends.
func (s stand) listen(path string, header ...string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		s.t.Fatalf("%s: %d %s", path, res.StatusCode, kind)
	}
	return &stream{s.t, res, bufio.NewScanner(res.Body), cancel}
}

// until reads up to the first line that holds the text, and returns it with the
// id of its event.
func (s *stream) until(text string) (line, id string) {
	s.t.Helper()
	for s.in.Scan() {
		line = s.in.Text()
		if n, ok := strings.CutPrefix(line, "id: "); ok {
			id = n
		}
		if strings.Contains(line, text) {
			return line, id
		}
	}
	s.t.Fatalf("the stream ended before %q: %v", text, s.in.Err())
	return "", ""
}

// A second tab learns of the first one's turn, reads the history, resumes, and
// shows the same.
func TestASecondTabIsTold(t *testing.T) {
	s := newStand(t, slowly)
	s.do("POST", "/api/sessions", `{"id":"c1"}`)
	tab := s.listen("/api/sessions/c1/events")
	if line, _ := tab.until("data:"); line != `data: {"type":"session","turns":[]}` {
		t.Error(line)
	}
	bodies := make([]string, 2)
	var all sync.WaitGroup
	all.Go(func() { _, _, bodies[0] = s.do("POST", "/api/chat", submit("c1", "u1", "think")) })
	if line, _ := tab.until(`"running"`); !strings.Contains(line, `"by":"ada"`) || !strings.Contains(line, `"message_id":"msg_`) {
		t.Error(line)
	}
	if _, _, history := s.do("GET", "/api/sessions/c1/messages", ""); !strings.Contains(history, `"u1"`) {
		t.Errorf("history %s", history)
	}
	all.Go(func() { _, _, bodies[1] = s.do("GET", "/api/chat/c1/stream", "") })
	all.Wait()
	if bodies[0] != bodies[1] || !strings.HasSuffix(bodies[0], "data: [DONE]\n\n") {
		t.Errorf("the second tab got\n%s\nand the first\n%s", bodies[1], bodies[0])
	}
	_, mark := tab.until(`"ended"`)
	tab.end()
	s.do("POST", "/api/chat", submit("c1", "u2", "hello"))
	for _, again := range []*stream{
		s.listen("/api/sessions/c1/events?after=" + mark),
		s.listen("/api/sessions/c1/events", "Last-Event-ID", mark),
		s.listen("/api/sessions/c1/events?after=0", "Last-Event-ID", mark), // an EventSource keeps its first URL
	} {
		if line, _ := again.until("data:"); !strings.Contains(line, `"queued"`) {
			t.Error(line)
		}
		again.until(`"ended"`)
		again.end()
	}
	if line, _ := s.listen("/api/sessions/c1/events?after=100000").until("data:"); !strings.Contains(line, `"reset":true`) || !strings.Contains(line, `"title":"think"`) {
		t.Error(line)
	}
	last := s.listen("/api/sessions/c1/events")
	last.until(`"session"`)
	s.do("DELETE", "/api/sessions/c1", "")
	last.until(`{"type":"deleted"}`)
	for last.in.Scan() {
		if line := last.in.Text(); line != "" {
			t.Errorf("after the end: %s", line)
		}
	}
}

// A client may be cut between two events that one record tells: the mark stands at
// the last of them, so that nothing is missed.
//
//evidence:for promise-tabs
func TestNothingIsMissedWhereverTheEventsAreCut(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"c1"}`)
	s.do("POST", "/api/chat", submit("c1", "u1", "think"))
	read := func(mark string) (events, marks []string) {
		f := s.listen("/api/sessions/c1/events?after=" + mark)
		defer f.end()
		for f.in.Scan() {
			if id, ok := strings.CutPrefix(f.in.Text(), "id: "); ok {
				mark = id
			}
			if data, ok := strings.CutPrefix(f.in.Text(), "data: "); ok {
				events, marks = append(events, data), append(marks, mark)
				if strings.Contains(data, `"ended"`) {
					break
				}
			}
		}
		return events, marks
	}
	all, marks := read("0")
	if said := strings.Join(all, "\n"); len(all) != 4 || !strings.Contains(said, `"type":"title"`) {
		t.Fatalf("the events are\n%s", said)
	}
	for i, mark := range marks[:3] {
		rest, _ := read(mark)
		if most := all[i+1:]; len(rest) < len(most) || !slices.Equal(rest[len(rest)-len(most):], most) {
			t.Errorf("cut after\n%s\nthe rest is\n%s", all[i], strings.Join(rest, "\n"))
		}
	}
}

func TestEventsAreRefused(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"c1"}`)
	for path, want := range map[string]int{
		"/api/sessions/nobody/events":       http.StatusNotFound,
		"/api/sessions/c1/events?after=now": http.StatusBadRequest,
		"/api/sessions/c1/events?after=-1":  http.StatusBadRequest,
		"/api/sessions?limit=0":             http.StatusBadRequest,
		"/api/sessions?before=soon":         http.StatusBadRequest,
	} {
		if status, _, body := s.do("GET", path, ""); status != want || !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, header, _ := s.do("HEAD", "/api/sessions/c1/events", ""); status != 200 || header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %d %v", status, header)
	}
}

func TestListOfSessionsLeadsOn(t *testing.T) {
	s := newStand(t, nil)
	for i := range 5 {
		s.do("POST", "/api/sessions", fmt.Sprintf(`{"id":"c%d"}`, i))
	}
	var pages []string
	for path := "/api/sessions?limit=2"; path != ""; {
		status, header, body := s.do("GET", path, "")
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, status, body)
		}
		page := ""
		for i := range 5 {
			if strings.Contains(body, fmt.Sprintf(`"id":"c%d"`, i)) {
				page += fmt.Sprint(i)
			}
		}
		pages = append(pages, page)
		path, _, _ = strings.Cut(strings.TrimPrefix(header.Get("Link"), "<"), `>; rel="next"`)
	}
	if !slices.Equal(pages, []string{"34", "12", "0"}) {
		t.Errorf("pages %q", pages)
	}
	if _, _, body := s.do("GET", "/metrics", ""); !strings.Contains(body, "\ntributary_sessions 5\n") {
		t.Error(body)
	}
}

// Later turns of all users reach the readers of the trace and the events, in the
// order of their prompts.
//
//evidence:for promise-tabs
func TestFollowersSeeLaterTurns(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/sessions", `{"id":"c1"}`)
	streams := []*stream{
		s.listen("/api/sessions/c1/events"),
		s.listen("/api/sessions/c1/trace", "Accept", "text/event-stream"),
		s.listen("/api/sessions/c1/trace?deltas=1", "Accept", "text/event-stream"),
	}
	for round := range 3 {
		s.do("POST", "/api/chat", submit("c1", fmt.Sprint("u", round), "hello"))
		ended := []string{`"ended"`, `"type":"stop"`, `"type":"stop"`}
		ids := make([]string, len(streams))
		for i, f := range streams {
			_, ids[i] = f.until(ended[i])
		}
		if ids[0] != ids[1] || ids[1] != ids[2] {
			t.Errorf("round %d ended at %q", round, ids)
		}
	}
}

// followAll has so many clients follow a turn, the session's events and its trace,
// and checks that all of a kind get the same.
func followAll(t *testing.T, clients int) {
	t.Helper()
	s := newStandOn(t, memlog.New(), slowly, func(o *gateway.Options) { o.Read = 30 * time.Second }) // readers wait in line for so long
	s.do("POST", "/api/sessions", `{"id":"c1"}`)
	crowd := &http.Transport{MaxIdleConnsPerHost: clients}
	defer crowd.CloseIdleConnections()
	before := runtime.NumGoroutine()
	paths := []string{"/api/chat/c1/stream", "/api/sessions/c1/events?after=0", "/api/sessions/c1/trace"}
	seen := make([]string, clients)
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begun := s.listen("/api/sessions/c1/events")
	begun.until("data:")
	all.Go(func() { s.do("POST", "/api/chat", submit("c1", "u1", "think")) })
	begun.until(`"running"`)
	for i := range clients {
		all.Go(func() {
			path := paths[i%len(paths)]
			req, err := http.NewRequestWithContext(ctx, "GET", s.url+path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Accept", "text/event-stream")
			res, err := crowd.RoundTrip(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			var got strings.Builder
			for in := bufio.NewScanner(res.Body); in.Scan(); {
				line := in.Text()
				if !strings.HasPrefix(line, ":") { // comments are of the clock
					got.WriteString(line + "\n")
				}
				if line == "data: [DONE]" || strings.Contains(line, `"ended"`) || strings.Contains(line, `"type":"stop"`) {
					break
				}
			}
			seen[i] = got.String()
		})
	}
	all.Wait()
	for i, got := range seen {
		if first := seen[i%len(paths)]; got != first || len(got) < 100 {
			t.Fatalf("client %d of %s got\n%s\nand the first of them\n%s", i, paths[i%len(paths)], got, first)
		}
	}
	begun.end()
	_ = begun.res.Body.Close()
	crowd.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before+20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

func TestAHundredFollow(t *testing.T) { followAll(t, 100) }

//evidence:for promise-tabs
func TestAThousandFollow(t *testing.T) { followAll(t, 1000) }

// Nothing happens, and a proxy in between sees that the connection lives.
func TestEventsKeepTheConnectionAlive(t *testing.T) {
	s := newStandOn(t, memlog.New(), nil, func(o *gateway.Options) { o.Timing.Keepalive = 50 * time.Millisecond })
	s.do("POST", "/api/sessions", `{"id":"c1"}`)
	idle := s.listen("/api/sessions/c1/events")
	idle.until(`"session"`)
	idle.until(": keep-alive")
	idle.until(": keep-alive")
}
