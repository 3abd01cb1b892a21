package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/uistream"
)

// This file goes on with a stream whose gateway has died while this one passed it on.

// passedStream is a stream from another gateway, on its way to the client. The client gets no frame whose place in the stream is
// not known, so that another gateway can go on behind the last one.
type passedStream struct {
	io.ReadCloser
	node    *cluster.Node
	gateway string // that writes it
	session string
	held    []byte // frames whose place is not known yet
	ready   []byte // for the client
	at      *uistream.Position
	cut     bool // the stream has no end
	done    func()
}

// left follows when the client has all that it gets.
func (s *passedStream) left() {
	if s.done != nil {
		s.done()
	}
}

// passing has a request passed on, and watches the stream that answers it, if one does.
func (s *passedStream) passing(r *http.Request, once bool) cluster.Passing {
	position := ""
	if at, is := positionOf(r); is {
		s.at = &at
		if text, err := json.Marshal(at); err == nil {
			position = string(text)
		}
	}
	return cluster.Passing{Once: once, Position: position, Answer: func(gateway string, answer *http.Response) {
		if answer.Header.Get(cluster.PositionHeader) != "" {
			answer.Header.Del(cluster.PositionHeader)
			s.ReadCloser, s.gateway, answer.Body = answer.Body, gateway, s
			s.done = s.node.PassesStream(func() { _ = s.ReadCloser.Close() })
		}
	}}
}

// Read implements io.Reader.
func (s *passedStream) Read(p []byte) (int, error) {
	for len(s.ready) == 0 && !s.cut {
		n, err := s.ReadCloser.Read(p)
		s.take(p[:n])
		switch {
		case errors.Is(err, io.EOF):
			s.ready, s.held = append(s.ready, s.held...), nil
			if len(s.ready) == 0 {
				return 0, io.EOF
			}
		case err != nil && s.at == nil:
			return 0, err //nolint:wrapcheck // it is that of the stream
		case err != nil:
			s.cut = true
		}
	}
	if len(s.ready) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.ready)
	s.ready = s.ready[n:]
	return n, nil
}

// mostHeld bounds the frames whose place is not known yet. More than that goes to the client, whose stream cannot go on elsewhere
// until its place is known again.
const mostHeld = 1 << 20

// take takes what has come. Comments may go at once.
func (s *passedStream) take(more []byte) {
	seen := max(0, len(s.held)-len(": at ")) // a line may have come in two pieces
	s.held = append(s.held, more...)
	if bytes.Contains(s.held[seen:], []byte("\n\n")) {
		client, at, found, rest := uistream.CutPositions(s.held)
		if found {
			s.at, s.ready, s.held = &at, client, bytes.Clone(rest)
		}
	}
	comments := len(s.held) < 1<<10 && bytes.HasSuffix(s.held, []byte("\n\n")) && !bytes.Contains(s.held, []byte("data: "))
	if comments || len(s.held) > mostHeld {
		if !comments {
			s.at = nil
		}
		s.ready, s.held = append(s.ready, s.held...), nil
	}
}

// positionKey is for the place in a stream behind which this gateway goes on.
type positionKey struct{}

// positionOf is the place behind which the stream is to go on that answers a request.
func positionOf(r *http.Request) (at uistream.Position, is bool) {
	if at, is = r.Context().Value(positionKey{}).(uistream.Position); is {
		return at, true
	}
	text := r.Header.Get(cluster.PositionHeader)
	is = text != "" && cluster.Forwarded(r.Context()) && json.Unmarshal([]byte(text), &at) == nil
	return at, is
}

// How long a client waits until its stream goes on behind a gateway that has died, and until one that is alive, but has cut the
// stream, is found dead. How soon the gateway looks again.
const (
	goOnWithin = 10 * time.Second
	deadWithin = 3 * time.Second
	lookFirst  = 50 * time.Millisecond
	lookLast   = time.Second
)

// continueStream goes on with a stream that was cut because its gateway has died: at the next owner of the session, or here. If
// nobody goes on, or this gateway stops, the stream ends with a sentence. One that a gateway which is alive has cut is cut.
func (g *gateway) continueStream(w http.ResponseWriter, r *http.Request, s *passedStream) error {
	same := &sameResponse{ResponseWriter: w}
	began, wait := time.Now(), lookFirst
	for {
		select {
		case <-g.Cluster.Stopping():
			return g.failStream(same, r, uistream.Stopping)
		default:
		}
		left, err := g.Cluster.Left(r.Context(), s.session, s.gateway)
		if err == nil && left {
			err = g.readOnAt(same, r, s)
		}
		switch {
		case same.streams:
			g.Cluster.Cut(true)
			return err
		case r.Context().Err() != nil:
			panic(http.ErrAbortHandler)
		case !left && time.Since(began) > deadWithin:
			g.Cluster.Cut(false)
			panic(http.ErrAbortHandler)
		case time.Since(began) > goOnWithin:
			g.Cluster.Cut(false)
			return g.failStream(same, r, "The gateway of this session has ended: reload the page in a moment.")
		}
		same.reset()
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
		case <-g.Cluster.Stopping():
		}
		wait = min(2*wait, lookLast)
	}
}

// readOnAt asks for the rest of the stream as its client would for the whole.
func (g *gateway) readOnAt(w http.ResponseWriter, r *http.Request, s *passedStream) error {
	to, cancel := expiring(r.Clone(context.WithValue(r.Context(), positionKey{}, *s.at)))
	defer cancel()
	to.Method, to.Body, to.ContentLength = http.MethodGet, http.NoBody, 0
	nameStream(to, s.session)
	query := to.URL.Query()
	query.Set("turn", s.at.Turn)
	query.Del("ended") // the client lacks the end
	to.URL.RawQuery = query.Encode()
	return g.toOwner("", g.member(access.Viewer, g.served(g.resume), noStream))(w, to)
}

// failStream ends a stream that nobody goes on with.
func (g *gateway) failStream(w http.ResponseWriter, r *http.Request, sentence string) error {
	opts, err := g.streamOptions(r)
	if err != nil {
		return err
	}
	writer := uistream.NewWriter(w, g.Streams.Framing().For(opts.Options), g.Timing)
	defer writer.Close()
	return writer.Fail(sentence) //nolint:wrapcheck // it says that the client has gone
}

// sameResponse is the rest of a stream, in a response that has begun. It leaves out an answer that is no stream.
type sameResponse struct {
	http.ResponseWriter
	header  http.Header
	status  int
	streams bool
}

func (s *sameResponse) reset() { s.header, s.status = nil, 0 }

// Header implements http.ResponseWriter. The client has its headers.
func (s *sameResponse) Header() http.Header {
	if s.header == nil {
		s.header = http.Header{}
	}
	return s.header
}

// WriteHeader implements http.ResponseWriter.
func (s *sameResponse) WriteHeader(status int) {
	if s.status == 0 && status >= http.StatusOK {
		s.status = status
		s.streams = s.streams || status == http.StatusOK
	}
}

// Write implements io.Writer.
func (s *sameResponse) Write(p []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	if s.status != http.StatusOK {
		return len(p), nil
	}
	return s.ResponseWriter.Write(p) //nolint:wrapcheck // it is that of the response
}

// Unwrap is for http.ResponseController.
func (s *sameResponse) Unwrap() http.ResponseWriter { return s.ResponseWriter }
