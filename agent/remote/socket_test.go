package remote_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/wsconn"
)

// A call goes by the connection of the stream, and by one of its own where there is none.
func TestCallsByWebSocketAreFrames(t *testing.T) {
	t.Parallel()
	frames := make(chan string, 8)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := wsconn.Accept(w, r, wsconn.Config{})
		if err != nil {
			return
		}
		defer c.Close()
		for {
			frame, err := c.Read(r.Context())
			if err != nil {
				return
			}
			frames <- r.Header.Get("Authorization") + " " + string(frame)
			_ = c.Write(r.Context(), frame)
		}
	}))
	t.Cleanup(srv.Close)
	socket := &remote.Socket{URL: strings.Replace(srv.URL, "http", "ws", 1), Bearer: "ours", PassCaller: true}
	defer socket.Close()
	stream, err := socket.Stream(t.Context(), remote.Post("/ws", 1), agent.Caller{Bearer: "anns"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := socket.Do(t.Context(), remote.Post("/ws", 2), agent.Caller{}); err != nil {
		t.Error(err)
	}
	for n, of := range []string{"bobs", "anns"} { // in the name of who speaks
		if _, err := socket.Do(t.Context(), remote.Post("/ws", 7+n), agent.Caller{Bearer: of}); err != nil {
			t.Error(err)
		}
	}
	var heard []string
	for e, err := range stream.Events() {
		if heard = append(heard, string(e.Data)); len(heard) == 3 || err != nil {
			break
		}
	}
	stream.Close()
	if _, err := socket.Do(t.Context(), remote.Post("/ws", 3), agent.Caller{}); err != nil {
		t.Error(err)
	}
	var sent []string
	for range 5 {
		select {
		case frame := <-frames:
			sent = append(sent, frame)
		case <-time.After(time.Minute):
			t.Fatalf("the server has only %q", sent)
		}
	}
	slices.Sort(sent)
	if !slices.Equal(heard, []string{"1", "2", "8"}) || !slices.Equal(sent, []string{"Bearer anns 1", "Bearer anns 2", "Bearer anns 8", "Bearer bobs 7", "Bearer ours 3"}) {
		t.Errorf("got %q, sent %q", heard, sent)
	}
}
