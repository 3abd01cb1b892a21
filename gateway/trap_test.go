package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// slowly makes the demo agent slow enough to be cut off, left and come back to.
func slowly(o *session.Options) {
	a := o.Agents["demo"]
	a.Runtime = demo.Runtime{Pace: 10 * time.Millisecond}
	o.Agents["demo"] = a
	o.GracePeriod = 200 * time.Millisecond
}

// TestTrap14_FailuresHaveAStatusAndASentence: a failure is never a 200, and its
// body is what the user is shown: one sentence, nothing of the inside.
//
//evidence:for promise-known-chunks
func TestTrap14_FailuresHaveAStatusAndASentence(t *testing.T) {
	s := newStand(t, func(o *session.Options) {
		o.Log.Store = failing{o.Log.Store}
	})
	sentence := regexp.MustCompile("^[A-Z`][^\\n{}<>]*\\.$")
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/api/chat", submit("c1", "u1", "hello"), http.StatusServiceUnavailable},
		{"POST", "/api/chat", `{"id":"c1","messages":[{"role":"assistant","id":"m1","parts":[]}]}`, http.StatusConflict},
		{"POST", "/api/chat", `{"id":"c1","messages":"x"}`, http.StatusBadRequest},
		{"POST", "/api/chat", `<html>`, http.StatusBadRequest},
		{"POST", "/api/sessions/none/chat", submit("c1", "u1", "hello"), http.StatusNotFound},
		{"GET", "/api/chat/c1/stream?client=99x", "", http.StatusBadRequest},
		{"DELETE", "/api/chat/c1/stream", "", http.StatusMethodNotAllowed},
	} {
		status, header, body := s.do(c.method, c.path, c.body)
		if status != c.status || !sentence.MatchString(body) || strings.Contains(body, secret) || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s %s %s: %d %s: %s", c.method, c.path, c.body, status, header.Get("Content-Type"), body)
		}
	}
	if status, _, body := s.do("GET", "/readyz", ""); status != http.StatusServiceUnavailable || !strings.Contains(body, "not_ready") || strings.Contains(body, secret) {
		t.Errorf("readyz: %d %s", status, body)
	}
}

const secret = "/var/lib/secret"

var errSecret = errors.New("open " + secret + ": no space left on device")

// TestTrap17_ADisconnectIsNotAStop: the turn goes on, and a client that comes back
// within the grace period gets all of it. A stop has its own route and hits every
// client.
//
//evidence:for promise-disconnect
func TestTrap17_ADisconnectIsNotAStop(t *testing.T) {
	s := newStand(t, func(o *session.Options) {
		slowly(o)
		o.GracePeriod = 10 * time.Second
	})
	post := submit("c1", "u1", "think")
	conn, in := s.dial("POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: " + fmt.Sprint(len(post)) + "\r\n\r\n" + post)
	for line := ""; !strings.Contains(line, `"delta"`); {
		var err error
		if line, err = in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	_ = conn.Close()
	_, _, body := s.do("GET", "/api/chat/c1/stream", "")
	if !strings.Contains(body, `"type":"finish"`) || strings.Contains(body, `"type":"abort"`) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("who comes back gets\n%s", body)
	}

	stopped := make(chan string)
	go func() {
		_, _, body := s.do("POST", "/api/chat", submit("c2", "u1", "slow"))
		stopped <- body
	}()
	for {
		if _, _, body := s.do("POST", "/api/chat/c2/stop", ""); strings.Contains(body, `"stopped":true`) {
			break
		}
	}
	if body := <-stopped; !strings.Contains(body, `"type":"abort"`) || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("the stopped stream is\n%s", body)
	}
	if _, _, body := s.do("POST", "/api/chat/c2/stop", ""); !strings.Contains(body, `"stopped":false`) {
		t.Errorf("a second stop: %s", body)
	}
}

// TestTrap19_Resume: 204 for nothing, the whole message under its id and never a
// tail, whatever Last-Event-ID says, and ids are percent-decoded.
//
//evidence:for promise-resume
func TestTrap19_Resume(t *testing.T) {
	s := newStand(t, nil)
	for _, path := range []string{"/api/chat/none/stream", "/api/sessions/none/chat/stream", "/api/sessions/none/chat/x/stream"} {
		if status, _, body := s.do("GET", path, ""); status != http.StatusNoContent || body != "" {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	_, _, first := s.do("POST", "/api/chat", submit("a/b%2F ü", "u1", "hello"))
	const path = "/api/chat/a%2Fb%252F%20%C3%BC/stream"
	for _, id := range []string{"", "3", "epoch-3", "nonsense"} {
		if status, _, body := s.do("GET", path, "", "Last-Event-ID", id); status != 200 || body != first {
			t.Errorf("after %q: %d\n%s", id, status, body)
		}
	}
}

// TestTrap20_TheKindsOfPOST: the role of the last message, trigger and messageId
// tell them apart; the content type doesn't matter.
func TestTrap20_TheKindsOfPOST(t *testing.T) {
	s := newStand(t, nil)
	type message struct{ ID, Role string }
	history := func() (all []string, last string) {
		_, _, body := s.do("GET", "/api/sessions/c1/messages", "")
		var messages []message
		if err := json.Unmarshal([]byte(body), &messages); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		for _, m := range messages {
			if m.Role == "user" {
				all = append(all, m.ID)
			} else {
				all, last = append(all, "A"), m.ID
			}
		}
		return all, last
	}
	const one, two = `{"id":"u1","role":"user","parts":[{"type":"text","text":"hello"}]}`, `{"id":"u2","role":"user","parts":[{"type":"text","text":"remember"}]}`
	var answer string
	answers := map[string]bool{}
	for _, c := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"submit", `"trigger":"submit-message","messages":[` + one + `]`, 200, "u1 A"},
		{"submit, with all that was said before", `"trigger":"submit-message","messages":[` + one + `,{"id":"$A","role":"assistant","parts":[]},` + two + `]`, 200, "u1 A u2 A"},
		{"regenerate the last", `"trigger":"regenerate-message","messages":[` + one + `,{"id":"m","role":"assistant","parts":[]},` + two + `]`, 200, "u1 A u2 A"},
		{"regenerate one that is named", `"trigger":"regenerate-message","messageId":"$A","messages":[` + one + `,` + two + `]`, 200, "u1 A u2 A"},
		{"edit", `"trigger":"submit-message","messageId":"u1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"think"}]}]`, 200, "u1 A"},
		{"the last message only", `"message":` + two, 200, "u1 A u2 A"},
		{"run again", `"trigger":"submit-message","messageId":"u2","messages":[` + one + `,` + two + `]`, 200, "u1 A u2 A"},
		{"a tab that is behind appends", `"trigger":"submit-message","messages":[` + one + `,{"id":"u3","role":"user","parts":[{"type":"text","text":"hello"}]}]`, 200, "u1 A u2 A u3 A"},
		{"regenerate in a tab that is behind", `"trigger":"regenerate-message","messages":[` + one + `]`, 409, "u1 A u2 A u3 A"},
		{"continuation of nothing", `"trigger":"submit-message","messageId":"$A","messages":[` + one + `,{"id":"$A","role":"assistant","parts":[]}]`, 409, "u1 A u2 A u3 A"},
	} {
		status, _, body := s.do("POST", "/api/chat", `{"id":"c1",`+strings.ReplaceAll(c.body, "$A", answer)+`}`, "Content-Type", "text/plain;charset=UTF-8")
		if status != c.status {
			t.Errorf("%s: %d %s", c.name, status, body)
		}
		var all []string
		was := answer
		if all, answer = history(); strings.Join(all, " ") != c.want {
			t.Errorf("%s: history %v, want %s", c.name, all, c.want)
		}
		if status == 200 && (answer == was || answers[answer]) {
			t.Errorf("%s: the answer has an old id", c.name)
		}
		answers[answer] = true
	}
}

// failing is a store that takes no records.
type failing struct{ eventlog.Store }

func (failing) Append(_ context.Context, _, _ string, events []trace.Event) (uint64, error) {
	if len(events) == 0 {
		return 0, nil
	}
	return 0, errSecret
}

func (f failing) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	if len(events) == 0 {
		return f.Store.AppendWith(ctx, e, turn, events)
	}
	return f.Append(ctx, e.Session, turn, events)
}
