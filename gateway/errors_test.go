package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/trace"
)

// counted reads a counter of the metrics.
func (s stand) counted(name string) (n int) {
	s.t.Helper()
	_, _, body := s.do("GET", "/metrics", "")
	if _, err := fmt.Sscan(find(body, "\n"+name+" ([0-9]+)\n"), &n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// answering is a POST of a client that sends the output of one of the gateway's
// tools.
func (p paused) answering(client, part string, header ...string) (status int, head http.Header, body string) {
	p.t.Helper()
	return p.do("POST", "/api/chat?client="+client, `{"id":"`+p.session+`","messageId":"`+p.message+`","messages":[{"id":"`+p.message+`","role":"assistant","parts":[`+part+`]}]}`, header...)
}

// A refused answer has its status. Only clients that would send it again at once and without
// end read the refusal in a stream. The refusal counts either way.
//
//evidence:for promise-known-chunks
func TestARefusedAnswerHasItsStatus(t *testing.T) {
	s := newStand(t, nil)
	asked, allowed := s.pause("c1", "ask", "?client=5"), s.pause("c2", "approve", "?client=5")
	for _, c := range []struct {
		name, client string
		send         func(client string) (int, http.Header, string)
		status       int
		says         string
	}{
		{"what was never asked", "7", func(client string) (int, http.Header, string) {
			return asked.answering(client, strings.Replace(output("AskUser", `"blue"`)(asked), "question_", "forged_", 1))
		}, http.StatusConflict, "This message is not waiting for an answer: send a new message instead."},
		{"without the role", "5.0.72", func(client string) (int, http.Header, string) {
			return allowed.answering(client, output("AskPermission", `true`)(allowed), "X-Test-Role", "collaborator")
		}, http.StatusForbidden, "permission"},
	} {
		for client, status := range map[string]int{
			"": 200, "5": 200, "5.0.71": 200,
			"5.0.72": c.status, "5.0.277": c.status, "6.0.0": c.status, "7": c.status, "7.0.173": c.status,
		} {
			before := s.counted("tributary_http_refused_total")
			got, header, body := c.send(client)
			if got != status || !strings.Contains(body, c.says) || (status == 200) != strings.Contains(body, `{"type":"error"`) || (status == 200) != strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
				t.Errorf("%s, client %q: %d %s", c.name, client, got, body)
			}
			if n := s.counted("tributary_http_refused_total") - before; n != 1 {
				t.Errorf("%s, client %q: it was counted %d times", c.name, client, n)
			}
		}
	}
	if on := append(asked.answers(), allowed.answers()...); len(on) > 0 {
		t.Errorf("on record are %v", on)
	}
}

// full is a store that takes nothing more once it is full.
type full struct {
	eventlog.Store
	is *atomic.Bool
}

func (s full) Append(ctx context.Context, session, turn string, events []trace.Event) (uint64, error) {
	if s.is.Load() {
		return 0, errors.New("the disk is full")
	}
	return s.Store.Append(ctx, session, turn, events)
}

func (s full) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	if s.is.Load() && len(events) > 0 {
		return 0, errors.New("the disk is full")
	}
	return s.Store.AppendWith(ctx, e, turn, events)
}

// An error that a later request may escape is a status for every client.
func TestAnAnswerThatCannotBeTakenNowHasItsStatus(t *testing.T) {
	disk := full{memlog.New(), new(atomic.Bool)}
	s := newStandOn(t, disk, nil)
	p := s.pause("c1", "ask", "?client=5")
	disk.is.Store(true)
	status, header, body := p.answering("5", output("AskUser", `"blue"`)(p))
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" || header.Get("X-Tributary-Code") != "log_unavailable" || !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s", status, body)
	}
	if n := s.counted("tributary_http_failed_total"); n != 1 {
		t.Errorf("%d are counted", n)
	}
}
