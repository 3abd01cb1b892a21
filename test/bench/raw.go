package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// rawCommand makes this program the raw server.
const rawCommand = "raw"

// serveRaw runs the raw server: a handler of net/http that only writes the frames. The raw server
// takes the same requests as the gateway, and ends with its standard input.
func serveRaw(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("find a port for the raw server: %w", err)
	}
	mux := http.NewServeMux()
	rs := &sharedTurns{}
	page := rawPage()
	mux.HandleFunc("POST /api/chat", rs.chat)
	mux.HandleFunc("GET /api/chat/{id}/stream", rs.follow)
	mux.HandleFunc("GET /api/sessions/{id}/messages", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(page)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	fmt.Printf("http://%s/\n", listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// rawPage is a page of history of the size that the gateway's has.
func rawPage() []byte {
	type textPart struct {
		Type  string `json:"type"`
		Text  string `json:"text"`
		State string `json:"state"`
	}
	type message struct {
		ID    string     `json:"id"`
		Role  string     `json:"role"`
		Parts []textPart `json:"parts"`
	}
	var messages []message
	for i := range 200 {
		role := []string{"user", "assistant"}[i%2]
		messages = append(messages, message{fmt.Sprintf("message-%d", i), role, []textPart{{"text", strings.Repeat("clock 3 ", 8), "done"}}})
	}
	page, err := json.Marshal(messages)
	if err != nil {
		return []byte("[]") // never: all of it is text
	}
	return page
}

// frames writes frames, each at once.
type frames struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buffer  []byte
}

func newFrames(w http.ResponseWriter) *frames {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Vercel-Ai-Ui-Message-Stream", "v1")
	h.Set("X-Accel-Buffering", "no")
	return &frames{w: w, control: http.NewResponseController(w)}
}

func (f *frames) write(frame []byte) error {
	if _, err := f.w.Write(frame); err != nil {
		return err
	}
	return f.control.Flush()
}

const (
	opening = ": stream-open\n\n" +
		`data: {"type":"start","messageId":"message-1"}` + "\n\n" +
		`data: {"type":"start-step"}` + "\n\n" +
		`data: {"type":"text-start","id":"text-1"}` + "\n\n"
	closing = `data: {"type":"text-end","id":"text-1"}` + "\n\n" +
		`data: {"type":"finish-step"}` + "\n\n" +
		`data: {"type":"finish"}` + "\n\n" +
		"data: [DONE]\n\n"
)

// appendWord appends the frame that says what time it is.
func appendWord(dst []byte) []byte {
	dst = append(dst, `data: {"type":"text-delta","id":"text-1","delta":"`...)
	dst = strconv.AppendInt(dst, time.Now().UnixNano(), 10)
	return append(dst, " \"}\n\n"...)
}

// rawRequest is a request to the raw server.
type rawRequest struct {
	session string
	words   int
	pace    time.Duration
}

func readRawRequest(r *http.Request) (rawRequest, error) {
	var body struct {
		ID       string `json:"id"`
		Messages []struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return rawRequest{}, err
	}
	if len(body.Messages) != 1 || len(body.Messages[0].Parts) != 1 {
		return rawRequest{}, fmt.Errorf("one message with one part is expected")
	}
	_, number, _ := strings.Cut(body.Messages[0].Parts[0].Text, " ")
	words, err := strconv.Atoi(number)
	if err != nil {
		return rawRequest{}, err
	}
	pace, err := time.ParseDuration(strings.TrimPrefix(r.URL.Query().Get("agent"), "at-"))
	return rawRequest{body.ID, words, pace}, err
}

// pause waits, and returns early if the context ends.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// chat answers a prompt.
func (rs *sharedTurns) chat(w http.ResponseWriter, r *http.Request) {
	o, err := readRawRequest(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.URL.Query().Has("shared") {
		rs.share(w, r, o)
		return
	}
	f := newFrames(w)
	if err := f.write([]byte(opening)); err != nil {
		return
	}
	next := time.Now()
	for range o.words {
		next = next.Add(o.pace)
		if err := pause(r.Context(), time.Until(next)); err != nil {
			return
		}
		f.buffer = appendWord(f.buffer[:0])
		if err := f.write(f.buffer); err != nil {
			return
		}
	}
	_ = f.write([]byte(closing))
}
