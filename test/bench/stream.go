package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// request is a client's request to a server: a number of words, with a pause before each. Each word is
// the time at which the server sent it.
type request struct {
	session string
	words   int
	pace    time.Duration
	prose   bool   // words of a text, and no times
	shared  bool   // other clients will read along; only the raw server needs this
	begun   func() // called at the first word; may be nil
}

// word is a word that a client has read.
type word struct {
	at   time.Time
	late time.Duration // the time from the server to the client
}

// received is the part of a stream that a client has read.
type received struct {
	first time.Duration // from the request to the first byte
	words []word        // a server may join words that wait: each word of a frame counts
}

var sessions atomic.Int64 //nolint:gochecknoglobals // makes ids unique in a run

func newSession() string { return fmt.Sprintf("bench-%d", sessions.Add(1)) }

func agentFor(pace time.Duration) string {
	if pace >= time.Hour {
		return fmt.Sprintf("at-%dh", int(pace.Hours()))
	}
	return fmt.Sprintf("at-%dms", pace.Milliseconds())
}

// chat sends a prompt and reads the answer to its end.
func (s *server) chat(ctx context.Context, a request) (received, error) {
	type textPart struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type message struct {
		ID    string     `json:"id"`
		Role  string     `json:"role"`
		Parts []textPart `json:"parts"`
	}
	script := "clock"
	if a.prose {
		script = "long"
	}
	body, err := json.Marshal(map[string]any{
		"id": a.session, "trigger": "submit-message",
		"messages": []message{{ID: fmt.Sprintf("u%d", sessions.Add(1)), Role: "user", Parts: []textPart{{"text", fmt.Sprintf("%s %d", script, a.words)}}}},
	})
	if err != nil {
		return received{}, err
	}
	path := "/api/chat?agent=" + cmp.Or(s.agent, agentFor(a.pace))
	if a.shared && s.name == raw {
		path += "&shared=1"
	}
	h, err := s.readStream(ctx, http.MethodPost, path, body, a.begun)
	if err == nil && a.words < endless && len(h.words) != a.words {
		err = fmt.Errorf("%s said %d words of %d: is it this version's binary?", s.name, len(h.words), a.words)
	}
	return h, err
}

// endless is a number of words that only a stop ends.
const endless = 10_000

// stop ends a turn of a gateway. The other servers end a turn when the client disconnects.
func (s *server) stop(ctx context.Context, session string) error {
	if s.Token() == "" {
		return nil
	}
	res, err := s.request(ctx, http.MethodPost, "/api/chat/"+session+"/stop", nil)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// follow reads the running turn of the session.
func (s *server) follow(ctx context.Context, session string) (received, error) {
	return s.readStream(ctx, http.MethodGet, "/api/chat/"+session+"/stream", nil, nil)
}

func (s *server) request(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.Base()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if s.Token() != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token())
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", s.name, err)
	}
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10))
		_ = res.Body.Close()
		return nil, fmt.Errorf("%s answers %s: %s", s.name, res.Status, text)
	}
	return res, nil
}

var errCut = errors.New("the stream ended before its end")

func (s *server) readStream(ctx context.Context, method, path string, body []byte, begun func()) (received, error) {
	began := time.Now()
	res, err := s.request(ctx, method, path, body)
	if err != nil {
		return received{}, err
	}
	defer res.Body.Close()
	in := bufio.NewReaderSize(res.Body, 4<<10)
	if _, err := in.Peek(1); err != nil {
		return received{}, fmt.Errorf("read the stream of %s: %w", s.name, err)
	}
	h := received{first: time.Since(began)}
	whole := false
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			if !whole {
				return h, errCut
			}
			return h, nil
		case err != nil:
			return h, fmt.Errorf("read the stream of %s: %w", s.name, err)
		case bytes.Equal(line, []byte("data: [DONE]\n")):
			whole = true
		}
		now, first := time.Now(), len(h.words) == 0
		for said := range sentAt(line) {
			h.words = append(h.words, word{at: now, late: now.Sub(said)})
		}
		if first && len(h.words) > 0 && begun != nil {
			begun()
		}
	}
}

// sentAt reads from a line of a stream the times at which the server sent its words.
func sentAt(line []byte) iter.Seq[time.Time] {
	if !bytes.HasPrefix(line, []byte(`data: {"type":"text-delta"`)) {
		line = nil
	}
	_, text, _ := bytes.Cut(line, []byte(`"delta":"`))
	return clocks(text)
}

// clocks reads the times in the words of a text, up to the first word that is no time.
func clocks(text []byte) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		for text := text; ; {
			digits, rest, ok := bytes.Cut(text, []byte(" "))
			n, err := strconv.ParseInt(string(digits), 10, 64)
			if !ok || err != nil || !yield(time.Unix(0, n)) {
				return
			}
			text = rest
		}
	}
}

// get reads a page and discards it.
func (s *server) get(ctx context.Context, path string) (took time.Duration, size int64, err error) {
	began := time.Now()
	res, err := s.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0, 0, err
	}
	defer res.Body.Close()
	size, err = io.Copy(io.Discard, res.Body)
	if err != nil {
		return 0, 0, fmt.Errorf("read a page of %s: %w", s.name, err)
	}
	return time.Since(began), size, nil
}
