package gateway_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/session"
)

// A request with a key acts once by every route that takes one, and a repeated prompt gets the stream of the first.
//
//evidence:for promise-prompt-once
func TestARequestWithAKeyActsOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t, func(o *session.Options) { o.OnDisconnect = session.Detach })
	message := regexp.MustCompile(`"messageId":"([^"]+)"`)
	for _, path := range []string{"/api/chat", "/api/sessions/s/chat"} {
		var ids []string
		for range 2 {
			status, _, stream := s.do("POST", path, submit("s", "", "hello"), "Idempotency-Key", "k"+path)
			if id := message.FindStringSubmatch(stream); status == http.StatusOK && id != nil && strings.Contains(stream, "data: [DONE]") {
				ids = append(ids, id[1])
			} else {
				t.Fatalf("%s: %d %s", path, status, stream)
			}
		}
		if ids[0] != ids[1] {
			t.Errorf("%s answers twice: %s", path, ids)
		}
	}
	turn := s.queued("q", "root")
	stop := func() string {
		status, _, body := s.do("POST", "/api/chat/q/stop", `{"queue":"remove"}`, "Idempotency-Key", "k")
		if status != http.StatusOK {
			t.Fatalf("stop: %d %s", status, body)
		}
		return body
	}
	first := stop()
	until := func(what string, is func() bool) {
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("never: " + what)
			}
		}
	}
	until("the turn has ended", func() bool {
		_, _, q := s.do("GET", "/api/sessions/q", "")
		return strings.Contains(q, `"idle"`)
	})
	go s.leave(submit("q", "u4", "clock 10000"))
	go s.leave(submit("q", "u5", "clock 10000"))
	until("one prompt runs and one waits", func() bool {
		texts, _ := s.queue("q")
		return len(texts) == 1
	})
	if again := stop(); again != first || !strings.Contains(again, `"stopped":true`) || strings.Contains(again, turn) {
		t.Errorf("the first stop: %s, the same again: %s", first, again)
	}
	if texts, _ := s.queue("q"); len(texts) != 1 {
		t.Errorf("the second stop has removed what waits: %q", texts)
	}
	c := s.socket("", "Idempotency-Key", "of-the-opening-request")
	for _, request := range []string{"one", "two"} {
		c.send(request, "w", "u-"+request, "hello")
		c.until(request)
	}
	if _, _, messages := s.do("GET", "/api/sessions/w/messages", ""); !strings.Contains(messages, "u-two") {
		t.Errorf("a socket's second prompt is not taken: %s", messages)
	}
	for _, bad := range []string{strings.Repeat("k", 256), "a key", "schlüssel"} {
		for path, body := range map[string]string{"/api/chat": submit("s", "", "hello"), "/api/chat/s/stop": ""} {
			if status, _, text := s.do("POST", path, body, "Idempotency-Key", bad); status != http.StatusBadRequest || !strings.Contains(text, "Idempotency-Key") {
				t.Errorf("%s with the key %.9q: %d %s", path, bad, status, text)
			}
		}
	}
}
