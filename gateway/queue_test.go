package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// queued makes a session in which two prompts wait, and returns the path of the first of them.
func (d *described) queued(t *testing.T, id string) map[string]string {
	t.Helper()
	return map[string]string{"id": id, "turn": d.stand.queued(id, "root", "Authorization", "Bearer "+tokenOf("root"))}
}

// queued sends three prompts to a session, and returns the turn of the second one, which waits.
func (s stand) queued(id, by string, header ...string) (turn string) {
	s.t.Helper()
	for i, prompt := range []string{"clock 10000", "hello", "hello"} {
		go s.leave(submit(id, "u"+string(rune('1'+i)), prompt), header...)
		for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) { // within the limit of requests
			if time.Now().After(until) {
				s.t.Fatalf("the prompt %d of %s does not come", i+1, by)
			}
			_, _, session := s.do("GET", "/api/sessions/"+id, "", header...)
			_, _, queue := s.do("GET", "/api/sessions/"+id+"/queue", "", header...)
			if strings.Contains(session, `"running"`) && strings.Count(queue, `"turn"`) == i {
				break
			}
		}
	}
	_, _, queue := s.do("GET", "/api/sessions/"+id+"/queue", "", header...)
	return regexp.MustCompile(`"turn":"([^"]+)"`).FindStringSubmatch(queue)[1]
}

// leave sends a prompt, and reads of the answer what comes before the test ends.
func (s stand) leave(body string, header ...string) {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/api/chat", strings.NewReader(body))
	if err != nil {
		return
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultClient.Do(req); err == nil {
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
	}
}

func (s stand) queue(id string, header ...string) (texts []string, mine int) {
	s.t.Helper()
	status, _, body := s.do("GET", "/api/sessions/"+id+"/queue", "", header...)
	var queue struct {
		Queue []struct {
			Text string
			Mine bool
		}
	}
	if err := json.Unmarshal([]byte(body), &queue); err != nil || status != 200 {
		s.t.Fatalf("%d %s", status, body)
	}
	for _, q := range queue.Queue {
		texts = append(texts, q.Text)
		if q.Mine {
			mine++
		}
	}
	return texts, mine
}

func TestPromptsThatWaitAreListedEditedRemovedAndPromoted(t *testing.T) {
	t.Parallel()
	s := newStandWith(t)
	ada, bob, admin := as("ada", "collaborator"), as("bob", "collaborator"), as("root", "admin")
	turn := s.queued("s", "ada", ada...)
	at := "/api/sessions/s/queue/" + turn
	if texts, mine := s.queue("s", ada...); strings.Join(texts, "|") != "hello|hello" || mine != 2 {
		t.Errorf("the queue is %q, %d of it the sender's", texts, mine)
	}
	if _, mine := s.queue("s", bob...); mine != 0 {
		t.Errorf("%d prompts of another user are the sender's", mine)
	}
	s.all([]asked{
		{"vera", "viewer", "GET", "/api/sessions/s/queue", "", 200},
		{"vera", "viewer", "PATCH", at, `{"text":"x"}`, 403},
		{"vera", "viewer", "DELETE", at, "", 403},
		{"bob", "collaborator", "PATCH", at, `{"text":"x"}`, 403},
		{"bob", "collaborator", "DELETE", at, "", 403},
		{"bob", "collaborator", "POST", at + "/promote", "", 403},
		{"ada", "collaborator", "PATCH", "/api/sessions/s/queue/turn_none", `{"text":"x"}`, 404},
		{"ada", "collaborator", "PATCH", "/api/sessions/none/queue/" + turn, `{"text":"x"}`, 404},
		{"ada", "collaborator", "PATCH", at, `{"text":""}`, 400},
		{"ada", "collaborator", "PATCH", at, `{"words":"x"}`, 400},
		{"ada", "collaborator", "PATCH", at, `{"text":"think"}`, 200},
	})
	if texts, _ := s.queue("s", ada...); strings.Join(texts, "|") != "think|hello" {
		t.Errorf("after an edit the queue is %q", texts)
	}
	_, _, queue := s.do("GET", "/api/sessions/s/queue", "", ada...)
	last := regexp.MustCompile(`"turn":"([^"]+)"`).FindAllStringSubmatch(queue, -1)[1][1]
	if status, _, body := s.do("DELETE", "/api/sessions/s/queue/"+last, "", admin...); status != 204 { // an owner of every session
		t.Errorf("an owner's removal gets %d %s", status, body)
	}
	if status, _, body := s.do("POST", at+"/promote", "", ada...); status != 204 {
		t.Errorf("promote gets %d %s", status, body)
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if texts, _ := s.queue("s", ada...); len(texts) == 0 { // the turn before it has ended, and it runs
			break
		}
	}
	if status, _, body := s.do("PATCH", at, `{"text":"too late"}`, ada...); status != 409 || !strings.Contains(body, "This prompt does not wait any more") || !strings.Contains(body, "not_queued") {
		t.Errorf("an edit of a prompt that runs gets %d %s", status, body)
	}
	var history string
	for until := time.Now().Add(time.Minute); !strings.Contains(history, "the answer is yes") && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		_, _, history = s.do("GET", "/api/sessions/s/messages", "", ada...)
	}
	if !strings.Contains(history, "the answer is yes") || strings.Count(history, `"think"`) != 1 || strings.Contains(history, "Hello! I am") {
		t.Errorf("the history is %s", history)
	}
}

// A stop says what becomes of the prompts that wait. Without a word they are held, and their
// streams end with a sentence.
func TestAStopDecidesAboutTheQueue(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct {
		queue, held string
		stopped     int
	}{
		``:                   {"hello|hello", `"held":2`, 200},
		`{"queue":"hold"}`:   {"hello|hello", `"held":2`, 200},
		`{"queue":"remove"}`: {"", "", 200},
		`{"queue":"run"}`:    {"", "", 200},
		`{"queue":"drop"}`:   {"hello|hello", "", 400},
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			s := newStandWith(t)
			ada := as("ada", "collaborator")
			turn := s.queued("s", "ada", ada...)
			if status, _, answer := s.do("POST", "/api/chat/s/stop", body, ada...); status != want.stopped {
				t.Fatalf("the stop: %d %s", status, answer)
			}
			var texts []string
			for range 400 {
				if texts, _ = s.queue("s", ada...); strings.Join(texts, "|") == want.queue {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if strings.Join(texts, "|") != want.queue {
				t.Errorf("the queue is %q, want %q", texts, want.queue)
			}
			_, _, session := s.do("GET", "/api/sessions/s", "", ada...)
			if !strings.Contains(session, want.held) || want.held == "" && strings.Contains(session, "held") {
				t.Errorf("the session is %s", session)
			}
			_, _, all := s.do("GET", "/api/sessions/s/messages", "", ada...)
			if removed := strings.Count(all, "was not run"); removed != map[bool]int{true: 2}[strings.Contains(body, "remove")] {
				t.Errorf("%d prompts were not run:\n%s", removed, all)
			}
			if want.held == "" {
				return
			}
			if status, _, answer := s.do("POST", "/api/sessions/s/queue/"+turn+"/promote", "", ada...); status != 204 {
				t.Errorf("promote: %d %s", status, answer)
			}
			if status, _, answer := s.do("POST", "/api/sessions/s/queue/continue", "", ada...); status != 204 {
				t.Errorf("continue: %d %s", status, answer)
			}
		})
	}
}

func TestTheStreamOfAHeldPromptEndsWithASentence(t *testing.T) {
	t.Parallel()
	s := newStandWith(t)
	ada := as("ada", "collaborator")
	s.queued("s", "ada", ada...)
	got := make(chan string)
	go func() {
		_, _, body := s.do("POST", "/api/chat", submit("s", "last", "hello"), ada...)
		got <- body
	}()
	for {
		if texts, _ := s.queue("s", ada...); len(texts) == 3 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if status, _, answer := s.do("POST", "/api/chat/s/stop", "", ada...); status != 200 {
		t.Fatalf("the stop: %d %s", status, answer)
	}
	if body := <-got; !strings.Contains(body, "It is kept: continue the queue of the session") || !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("the stream of the prompt is\n%s", body)
	}
}
