package cli

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

const clusterConfig = "cluster: {listen: \"127.0.0.1:0\"}\nagents: {demo: {options: {pace: 100ms}}}\n"

// twoGateways starts two gateways on one database.
func twoGateways(t *testing.T) (first, second *server) {
	t.Helper()
	db := postgres.Database(t)
	conf := file(t, "tributary.yaml", clusterConfig+"auth: {tokens: [{name: ann, role: viewer, token_file: "+file(t, "ann", annToken)+"}]}\n")
	first = startServer(t, t.TempDir(), "--config", conf, "--db", db)
	second = startServer(t, t.TempDir(), "--config", conf, "--db", db)
	return first, second
}

const annToken = "a-token-of-ann-0123456789"

// running begins a turn at a gateway, and returns its stream when the turn runs.
func (s *server) running(session, text string) *http.Response {
	s.t.Helper()
	r := s.request("POST", "/api/chat", chat(session, text))
	if r.StatusCode != http.StatusOK {
		s.t.Fatalf("the prompt: %d", r.StatusCode)
	}
	s.has("the turn runs", "/api/sessions/"+session, `"state":"running"`)
	return r
}

// has waits until an answer has the words.
func (s *server) has(what, path, words string) string {
	s.t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		_, body := s.do("GET", path, "")
		if strings.Contains(body, words) {
			return body
		}
		if time.Now().After(until) {
			s.t.Fatalf("in vain: %s; GET %s gives %s\n%s", what, path, body, s.errors)
		}
	}
}

// A gateway that does not have the session answers as the one that has it.
//
//evidence:for promise-cluster
func TestAnyGatewayTakesAnyRequest(t *testing.T) {
	t.Parallel()
	first, second := twoGateways(t)
	turn := first.running("s", "slow")
	defer turn.Body.Close()
	events := second.request("GET", "/api/sessions/s/events", "")
	defer events.Body.Close()
	resumed := second.request("GET", "/api/chat/s/stream", "")
	defer resumed.Body.Close()
	if live := bufio.NewScanner(resumed.Body); resumed.StatusCode != http.StatusOK || !finds(live, `"type":"text-delta"`) {
		t.Errorf("the resume: %d", resumed.StatusCode)
	}
	queued := make(chan string, 1)
	go func() {
		_, stream := second.do("POST", "/api/chat", strings.ReplaceAll(chat("s", "hello"), "u-s", "u-2"))
		queued <- stream
	}()
	for _, s := range []*server{first, second} {
		s.has("the prompt waits", "/api/sessions/s/queue", "u-2")
	}
	for _, r := range []struct {
		method, path, body string
		want               int
	}{
		{"POST", "/api/chat", chat("s", "hello"), http.StatusForbidden},
		{"POST", "/api/chat/s/stop", "", http.StatusForbidden},
		{"PATCH", "/api/sessions/s", `{"title":"new"}`, http.StatusForbidden},
		{"GET", "/api/sessions/s/messages", "", http.StatusOK},
	} {
		if status, body := second.withToken(annToken, r.method, r.path, r.body); status != r.want {
			t.Errorf("a viewer, %s %s: %d %s", r.method, r.path, status, body)
		}
	}
	if status, body := second.do("PATCH", "/api/sessions/s", `{"title":"a new title"}`); status != http.StatusOK {
		t.Errorf("the title: %d %s", status, body)
	}
	if status, body := second.do("PUT", "/api/sessions/s/members/ann", `{"role":"collaborator"}`); status != http.StatusOK && status != http.StatusNoContent {
		t.Errorf("the member: %d %s", status, body)
	}
	if _, body := first.do("GET", "/api/sessions/s", ""); !strings.Contains(body, "a new title") || !strings.Contains(body, "ann") {
		t.Errorf("the session: %s", body)
	}
	if status, body := second.do("POST", "/api/chat/s/stop", ""); status != http.StatusOK || !strings.Contains(body, `"stopped":true`) {
		t.Errorf("the stop: %d %s", status, body)
	}
	first.has("the turn has ended", "/api/sessions/s", `"held":1`)
	if status, body := second.do("POST", "/api/sessions/s/queue/continue", ""); status != http.StatusNoContent {
		t.Errorf("the queue goes on: %d %s", status, body)
	}
	<-queued
	first.has("it has run", "/api/sessions/s/messages", "I am the demo agent")
	if !finds(bufio.NewScanner(events.Body), "data: ") {
		t.Error("the events of the session do not arrive")
	}
	if status, body := second.do("DELETE", "/api/sessions/s", ""); status != http.StatusNoContent {
		t.Errorf("the deletion: %d %s", status, body)
	}
	if status, _ := first.do("GET", "/api/sessions/s", ""); status != http.StatusNotFound {
		t.Errorf("the deleted session: %d", status)
	}
}

// A request of an agent is listed and answered at any gateway.
func TestAnyGatewayTakesAnyAnswer(t *testing.T) {
	t.Parallel()
	first, second := twoGateways(t)
	turn := first.request("POST", "/api/chat", chat("s", "approve"))
	defer turn.Body.Close()
	var all struct {
		Requests []struct {
			ID      string
			Options []struct{ ID, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(second.has("the request", "/api/requests", `"kind":"permission"`)), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Requests) != 1 || len(all.Requests[0].Options) == 0 {
		t.Fatalf("%+v", all)
	}
	q := all.Requests[0]
	if status, body := second.do("POST", "/api/sessions/s/permissions/"+q.ID, `{"option":"`+q.Options[0].ID+`"}`); status != http.StatusOK {
		t.Errorf("the answer: %d %s", status, body)
	}
	if status, body := first.do("POST", "/api/sessions/s/permissions/"+q.ID, `{"option":"`+q.Options[0].ID+`"}`); status != http.StatusConflict {
		t.Errorf("a second answer: %d %s", status, body)
	}
	if !finds(bufio.NewScanner(turn.Body), "data: [DONE]") {
		t.Error("the turn has no end")
	}
}

// number is what a metric says, of the series with the label value, if there is one.
func (s *server) number(metric, label string) float64 {
	s.t.Helper()
	for _, m := range s.metrics()[metric].GetMetric() {
		if label == "" || m.GetLabel()[0].GetValue() == label {
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	s.t.Fatalf("there is no %s %s", metric, label)
	return 0
}

// An operator sees in the metrics that a gateway has died, and what has become of its turns and streams.
func TestTheMetricsTellOfAGatewayThatDies(t *testing.T) {
	t.Parallel()
	db, data, conf := postgres.Database(t), t.TempDir(), file(t, "tributary.yaml", clusterConfig)
	first := exec.CommandContext(t.Context(), os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data", data, "--config", conf, "--db", db, "--cwd", t.TempDir())
	first.Env = append(os.Environ(), asProgram+"=1")
	errs := &output{}
	first.Stderr = errs
	out, err := first.StdoutPipe()
	if err == nil {
		err = first.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		_ = first.Process.Kill()
		_ = first.Wait()
	})
	t.Cleanup(kill)
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatalf("no ready line\n%s", errs)
	}
	dies := &server{t: t, errors: errs, base: line.Text(), token: adminToken(t, data)}
	s := startServer(t, t.TempDir(), "--config", conf, "--db", db)
	becomes := func(metric, label string, want float64) {
		t.Helper()
		for until := time.Now().Add(patience); s.number(metric, label) != want; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%s %s is %v, and not %v\n%s", metric, label, s.number(metric, label), want, s.errors)
			}
		}
	}
	becomes("tributary_gateways", "", 2)
	becomes("tributary_judges_others", "", 1)
	turn := dies.running("s", "slow")
	defer turn.Body.Close()
	if one, two := dies.number("tributary_sessions_owned", ""), s.number("tributary_sessions_owned", ""); one != 1 || two != 0 {
		t.Errorf("the owner owns %v sessions, and the other one %v", one, two)
	}
	queued := dies.request("POST", "/api/chat", strings.ReplaceAll(chat("s", "hello"), "u-s", "u-2"))
	defer queued.Body.Close()
	dies.has("the prompt waits", "/api/sessions/s/queue", "u-2")
	stream := s.request("GET", "/api/chat/s/stream", "")
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	if !finds(lines, `"type":"text-delta"`) {
		t.Fatal("nothing of the turn arrives")
	}
	kill()
	if !finds(lines, "data: [DONE]") {
		t.Error("the stream does not go on to its end")
	}
	becomes("tributary_gateways_died_total", "", 1)
	becomes("tributary_gateways", "", 1)
	becomes("tributary_turns_taken_up_total", "closed", 1)
	becomes("tributary_turns_taken_up_total", "held", 1)
	becomes("tributary_turns_taken_up_total", "continued", 0)
	becomes("tributary_forwards_continued_total", "", 1)
	becomes("tributary_forwards_failed_total", "", 0)
	becomes("tributary_sessions_owned", "", 1)
}

// finds reports whether a stream has a line with the words.
func finds(stream *bufio.Scanner, words string) bool {
	for stream.Scan() {
		if strings.Contains(stream.Text(), words) {
			return true
		}
	}
	return false
}
