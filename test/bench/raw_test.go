package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
)

// rawServer is the raw server inside the test.
func rawServer(t *testing.T) *server {
	t.Helper()
	rs := &sharedTurns{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/chat", rs.chat)
	mux.HandleFunc("GET /api/chat/{id}/stream", rs.follow)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	address, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &server{Server: &launch.Server{Address: address}, name: raw, client: s.Client()}
}

func TestEveryWordIsHeard(t *testing.T) {
	t.Parallel()
	s := rawServer(t)
	begun := 0
	before := time.Now()
	h, err := s.chat(t.Context(), request{session: newSession(), words: 5, pace: time.Millisecond, begun: func() { begun++ }})
	if err != nil {
		t.Fatal(err)
	}
	if len(h.words) != 5 || begun != 1 || h.first <= 0 {
		t.Fatalf("read %d words, the first %d times, first byte after %v", len(h.words), begun, h.first)
	}
	for _, w := range h.words {
		if w.late < 0 || w.at.Add(-w.late).Before(before) {
			t.Errorf("a word of %v was %v on its way, and was asked for at %v", w.at, w.late, before)
		}
	}
}

func TestAllFollowersHearAll(t *testing.T) {
	t.Parallel()
	s := rawServer(t)
	session := newSession()
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := s.chat(t.Context(), request{session: session, words: 30, pace: 10 * time.Millisecond, shared: true}); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		wait.Go(func() {
			var h received
			for i := 0; len(h.words) == 0 && i < 100 && t.Context().Err() == nil; i++ { // the turn may not have begun
				h, _ = s.follow(t.Context(), session)
				time.Sleep(time.Millisecond)
			}
			if len(h.words) != 30 {
				t.Errorf("a subscriber read %d words of 30", len(h.words))
			}
		})
	}
	wait.Wait()
}

func TestSpoken(t *testing.T) {
	t.Parallel()
	first, second := time.Unix(0, 1790000000123456789), time.Unix(0, 1790000000123456790)
	for line, want := range map[string][]time.Time{
		`data: {"type":"text-delta","id":"text-1","delta":"1790000000123456789 "}` + "\n":                      {first},
		`data: {"type":"text-delta","delta":"1790000000123456789 1790000000123456790 ","id":"0"}` + "\n":       {first, second},
		`data: {"type":"text-delta","id":"1","delta":"1790000000123456789 later 1790000000123456790 "}` + "\n": {first},
		"":                    nil,
		"\n":                  nil,
		"event: text-delta\n": nil,
		`data: {"type":"text-start","id":"text-1"}`:    nil,
		`data: {"type":"text-delta","delta":"later "}`: nil,
		"data: [DONE]\n": nil,
	} {
		if got := slices.Collect(sentAt([]byte(line))); !slices.Equal(got, want) {
			t.Errorf("%q has words of %v, want %v", line, got, want)
		}
	}
}

func TestAgentsAreNamedByTheirPace(t *testing.T) {
	t.Parallel()
	for pace, want := range map[time.Duration]string{0: "at-0ms", paceFor(1): "at-20ms", paceFor(100): "at-20ms", sharedPace: "at-100ms", paceFor(1000): "at-200ms", time.Hour: "at-1h"} {
		if got := agentFor(pace); got != want {
			t.Errorf("an agent with a pace of %v is %s, want %s", pace, got, want)
		}
	}
}
