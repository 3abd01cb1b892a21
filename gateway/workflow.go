package gateway

import (
	"crypto/rand"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/gateway/chatrun"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/uistream"
)

// This file serves the stock client's WorkflowChatTransport.

// The headers of the transport.
const (
	runHeader  = "X-Workflow-Run-Id"
	tailHeader = "X-Workflow-Stream-Tail-Index"
)

// The names of runs. A client that reads a message from its start reads any turn of
// the session in the same way. The rest of a message has no start.
const (
	wholePrefix = "run_"
	restPrefix  = "rest_"
)

// workflowRelease is the release of ai in @ai-sdk/workflow 2.0.43, which checks each chunk.
const workflowRelease = "7.0.112"

// workflowProfile returns the options for the transport, whose addresses have no query.
func workflowProfile(r *http.Request, opts streamOptions) streamOptions {
	if !r.URL.Query().Has("client") {
		opts.Profile, _ = uistream.ParseProfile(workflowRelease)
	}
	return opts
}

// isWorkflow reports whether a POST may be the transport's: a session's address, and a body
// of no declared form.
func isWorkflow(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.PathValue("id") != "" && kind == "text/plain"
}

// recorded records the stream that answers a POST, so that the client can read on.
func (g *gateway) recorded(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		name := restPrefix + rand.Text()
		w.Header().Set(runHeader, name)
		p, ctx := g.runs.Begin(r.Context(), w, runKey(r, name))
		defer p.Close()
		return h(p, r.WithContext(ctx))
	}
}

func runKey(r *http.Request, name string) chatrun.Key {
	return chatrun.Key{Session: r.PathValue("id"), Owner: caller(r), Name: name}
}

// record notes where the chunks of a run come from, if the response is of a run, and writes
// those that the client may lack.
func (g *gateway) record(w http.ResponseWriter, r *http.Request, writer *uistream.Writer, s *stream) {
	p, is := w.(*chatrun.Piece[stream])
	if !is {
		return
	}
	p.Follow(s)
	if len(s.had) > 0 && writer.Begin() == nil { // the headers go first
		p.Repeat(s.had)
		s.had = nil
	}
	if r.Method == http.MethodPost && !s.rest {
		name := wholePrefix + strings.TrimPrefix(w.Header().Get(runHeader), restPrefix)
		w.Header().Set(runHeader, name)
		g.runs.Rename(p, name)
	}
}

// resumeSession serves the resume of transports whose api is the chat address of a session.
func (g *gateway) resumeSession(w http.ResponseWriter, r *http.Request) error {
	if !r.URL.Query().Has("startIndex") || r.Method == http.MethodHead {
		return g.served(g.resume)(w, r)
	}
	n, err := strconv.Atoi(r.URL.Query().Get("startIndex"))
	if err != nil {
		return refusal.Malformed("`startIndex` must be a whole number.")
	}
	key := runKey(r, r.PathValue("chat"))
	w.Header().Set(runHeader, key.Name)
	switch {
	case n > 0:
		p, ctx := g.runs.Resume(r.Context(), w, key, n)
		if p == nil {
			return errRunLost
		}
		return g.readOn(p, r.WithContext(ctx), n)
	case n < 0: // the client gets all chunks, and learns that the newest ones are all
		w.Header().Set(tailHeader, strconv.Itoa(-n-1))
	}
	return g.readFromStart(w, r, key)
}

// readFromStart streams a run from its first chunk on. A client that names the session gets
// the message of the newest turn. So does a client that names a run which is not known any
// more. The rest of a message has no start: there the client gets an error.
func (g *gateway) readFromStart(w http.ResponseWriter, r *http.Request, key chatrun.Key) error {
	var s *stream
	if key.Name == key.Session {
		var err error
		if s, err = g.find(w, r, g.resumableRun); err != nil || s == nil {
			return err
		}
	}
	same := func(known *stream) bool {
		return s == nil || known != nil && known.turn.ID == s.turn.ID && known.span.From == s.span.From
	}
	if p, ctx := g.runs.Again(r.Context(), w, key, same); p != nil {
		return g.readOn(p, r.WithContext(ctx), 0)
	}
	if s == nil {
		if !strings.HasPrefix(key.Name, wholePrefix) {
			return errRunLost
		}
		var err error
		if s, err = g.find(w, r, g.resumableRun); err != nil || s == nil {
			return err
		}
	}
	p, ctx := g.runs.Begin(r.Context(), w, key)
	defer p.Close()
	g.serve(p, r.WithContext(ctx), s)
	return nil
}

// errRunLost refuses to go on with a run that the gateway does not know any more.
var errRunLost = &refusal.Error{ //nolint:gochecknoglobals // never written
	Status: http.StatusGone, Code: "run_lost",
	Sentence: "The gateway does not know which part of the answer this page has: load the answer again from its start.",
}

// readOn streams a run from the chunk with that number on.
func (g *gateway) readOn(p *chatrun.Piece[stream], r *http.Request, n int) error {
	defer p.Close()
	events, kept := p.From(n)
	if !kept {
		return errRunLost
	}
	source := p.Source()
	if source == nil {
		g.finish(p, events)
		return nil
	}
	s := *source
	s.began, s.had = time.Time{}, events
	g.serve(p, r, &s)
	return nil
}

// resumableRun finds the stream for a client that takes no 204. If there is nothing to
// resume, the answer ends at once.
func (g *gateway) resumableRun(w http.ResponseWriter, r *http.Request) (*stream, error) {
	opts, err := g.streamOptions(r)
	if err != nil {
		return nil, err
	}
	s, err := g.resumable(r, workflowProfile(r, opts))
	if err == nil && s == nil {
		g.finish(w, nil)
	}
	return s, err
}

// finish answers with chunks that the client lacks, and ends in a finish chunk.
func (g *gateway) finish(w http.ResponseWriter, events []byte) {
	writer := uistream.NewWriter(w, g.Streams.Framing(), g.Timing)
	defer writer.Close()
	err := writer.Begin()
	switch p, is := w.(*chatrun.Piece[stream]); {
	case err != nil: // the client has gone
	case is && len(events) > 0:
		p.Repeat(events)
	default:
		err = writer.Chunks(uistream.Finish{})
	}
	if err == nil {
		_ = writer.Done()
	}
}

// noRun answers that there is nothing to resume, as in a session that does not exist yet.
func (g *gateway) noRun(w http.ResponseWriter, r *http.Request) error {
	if !r.URL.Query().Has("startIndex") {
		return noStream(w, r)
	}
	g.finish(w, nil)
	return nil
}
