package cluster

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// This file passes a request on to the owner of its session.

// tryEvery is how long a request waits before it looks for the owner again.
const tryEvery = 100 * time.Millisecond

// Passing says how a request is passed on.
type Passing struct {
	// Once says that the owner does once what has the same key twice, so that it may be sent again.
	Once bool
	// Position is the header PositionHeader of the request.
	Position string
	// Answer may change what the client gets of the answer of that gateway; nil: nothing.
	Answer func(gateway string, answer *http.Response)
}

// Forward passes a request on to the gateway that owns the session, and passes its answer back. It reports
// false if this gateway is the one to answer: it owns the session, nobody does, or the owner takes no
// requests of others.
func (n *Node) Forward(w http.ResponseWriter, r *http.Request, session string, how Passing) (done bool, err error) {
	owner, is, err := n.passesTo(r.Context(), session)
	if err != nil || !is {
		return false, err
	}
	if err := keep(r); err != nil {
		return false, err
	}
	if how.Once {
		WithKey(r)
	}
	return n.pass(w, r, &toOwner{n, session, owner, how, func() {}})
}

// PositionHeader is the place in a stream behind which the owner of a session goes on. In an answer it says that the stream tells
// its places. Between gateways only.
const PositionHeader = "Tributary-Position"

// Left reports whether a gateway does not own a session any more.
func (n *Node) Left(ctx context.Context, session, gateway string) (bool, error) {
	owner, is, err := n.other(ctx, session)
	return err == nil && (!is || owner.ID != gateway), err
}

// KeyHeader names a request, so that it acts once if it is sent twice. An Internet draft of the IETF describes it.
const KeyHeader = "Idempotency-Key"

// WithKey gives a request a key, if it has none.
func WithKey(r *http.Request) {
	if r.Header.Get(KeyHeader) == "" {
		r.Header.Set(KeyHeader, rand.Text())
	}
}

// passesTo is the gateway to which a request for the session is passed on.
func (n *Node) passesTo(ctx context.Context, session string) (owner eventlog.Gateway, is bool, err error) {
	if n == nil || session == "" || Forwarded(ctx) {
		return owner, false, nil
	}
	owner, is, err = n.other(ctx, session)
	return owner, is && owner.Address != "", err
}

// Passage is a request that this gateway has read, on its way to the owner of its session.
type Passage struct {
	node    *Node
	session string
	owner   eventlog.Gateway
	body    *keptBody
}

// Prepare is for a request that is to be passed on with what this gateway has read of it, and not with its own body.
// The Passage is nil if this gateway is to answer.
func (n *Node) Prepare(r *http.Request, session string, read any) (*Passage, error) {
	owner, is, err := n.passesTo(r.Context(), session)
	if err != nil || !is {
		return nil, err
	}
	text, err := json.Marshal(read)
	if err != nil {
		return nil, fmt.Errorf("write a request for its owner: %w", err)
	}
	return &Passage{n, session, owner, newKeptBody(text)}, nil
}

// Send passes the request on with the headers and the address of r, which has a key if it acts once. It calls sent when
// the owner has it. It reports false if nobody owns the session any more: then Again has what was read.
func (p *Passage) Send(w http.ResponseWriter, r *http.Request, how Passing, sent func()) (done bool, err error) {
	r = r.Clone(r.Context())
	r.Header.Set("Content-Type", "application/json")
	p.body.of(r)
	return p.node.pass(w, r, &toOwner{p.node, p.session, p.owner, how, func() { p.body.text.Store(nil); sent() }})
}

// Again reads what Prepare was given.
func (p *Passage) Again(into any) error {
	if err := json.Unmarshal(p.body.kept(), into); err != nil {
		return fmt.Errorf("read a request again: %w", err)
	}
	return nil
}

// errHere says that this gateway is to answer.
var errHere = errors.New("no other gateway owns the session")

// pass passes a request on to its owner, or to the next owner.
func (n *Node) pass(w http.ResponseWriter, r *http.Request, to *toOwner) (done bool, err error) {
	who, err := senderOf(r.Context())
	if err != nil {
		return false, err
	}
	_, known := access.From(r.Context())
	proxy := &httputil.ReverseProxy{
		Transport: to, FlushInterval: -1,
		ErrorLog: slog.NewLogLogger(n.logger.Handler(), slog.LevelDebug),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme = "https" // of toOwner
			p.Out.Header = withoutCredentials(p.Out.Header, !known)
			p.Out.Header.Set(senderHeader, who)
			p.Out.Header.Set(sessionHeader, url.QueryEscape(to.session))
			if to.how.Position != "" {
				p.Out.Header.Set(PositionHeader, to.how.Position)
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			for name := range answer.Header { // this gateway has set some of them already
				w.Header().Del(name)
			}
			if to.how.Answer != nil {
				to.how.Answer(to.owner.ID, answer)
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, failed error) { err = failed },
	}
	cut := true // by a panic of the proxy
	defer func() { n.count(done, r.Context().Err() == nil && (cut || err != nil)) }()
	done = true
	proxy.ServeHTTP(w, r)
	cut = false
	if errors.Is(err, errHere) {
		if r.GetBody != nil {
			r.Body, _ = r.GetBody()
		}
		return false, nil
	}
	return true, err
}

// count counts a request that was passed on.
func (n *Node) count(done, failed bool) {
	if done {
		n.passed.all.Add(1)
	}
	if done && failed {
		n.passed.failed.Add(1)
	}
}

// toOwner is the way to the owner of a session.
type toOwner struct {
	*Node
	session string
	owner   eventlog.Gateway
	how     Passing
	sent    func() // is called when an owner has answered
}

// RoundTrip implements http.RoundTripper. It sends a request again, to the next owner, if the owner has not got it or if the
// request acts once.
func (t *toOwner) RoundTrip(r *http.Request) (*http.Response, error) {
	until := time.Now().Add(t.patience)
	repeats := t.how.Once || r.Method == http.MethodGet || r.Method == http.MethodHead
	acted := false // perhaps
	for {
		answer, sent, err := t.try(r)
		acted = acted || err != nil && sent
		again := r.GetBody != nil || r.Body == nil || r.Body == http.NoBody
		if err == nil {
			if answer.StatusCode != http.StatusMisdirectedRequest {
				t.sent()
				return answer, nil
			}
			_ = answer.Body.Close()
		}
		switch {
		case r.Context().Err() != nil:
			return nil, context.Cause(r.Context()) //nolint:wrapcheck // the client has gone
		case err != nil && sent && !(repeats && again):
			t.logger.Warn("a gateway has ended while it had a request", "gateway", t.owner.Name, "session", t.session, "error", err)
			return nil, errOwnerLost
		case sent && !again:
			return nil, session.ErrElsewhere
		}
		if err := t.next(r.Context(), until); err != nil {
			if acted && errors.Is(err, session.ErrElsewhere) {
				err = errOwnerLost
			}
			return nil, err
		}
	}
}

var errOwnerLost = &refusal.Error{
	Status: http.StatusBadGateway, Code: "owner_lost",
	Sentence: "The gateway that has this session has ended, perhaps after it did what you asked: look at the session before you try again.",
}

// next waits for a moment, and finds the owner again.
func (t *toOwner) next(ctx context.Context, until time.Time) error {
	select {
	case <-time.After(tryEvery):
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the client has gone
	}
	owner, is, err := t.other(ctx, t.session)
	switch {
	case err != nil:
		return err
	case !is || owner.Address == "":
		return errHere
	case time.Now().After(until):
		return session.ErrElsewhere
	}
	t.owner = owner
	return nil
}

// try sends the request to the owner once. It reports whether the owner may have got it.
func (t *toOwner) try(r *http.Request) (_ *http.Response, sent bool, err error) {
	var wrote atomic.Bool
	ctx, cut := context.WithCancelCause(context.WithValue(r.Context(), dialedKey{}, t.owner))
	unhook := context.AfterFunc(t.peer(t.owner), func() { cut(errGone) }) //nolint:contextcheck // it is the life of the owner
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	out := r.Clone(ctx)
	out.URL.Scheme, out.URL.Host, out.RequestURI = "https", t.owner.Address, ""
	if r.GetBody != nil {
		if out.Body, err = r.GetBody(); err != nil {
			return nil, false, fmt.Errorf("send a request again: %w", err)
		}
	}
	answer, err := t.transport.RoundTrip(out)
	if err != nil {
		unhook()
		cut(nil)
		return nil, wrote.Load(), err //nolint:wrapcheck // the caller tries again or says more
	}
	body := &cutBody{answer.Body, ctx, func() { unhook(); cut(nil) }}
	answer.Body = body
	if answer.StatusCode == http.StatusSwitchingProtocols { // the transport leaves such a connection alone
		context.AfterFunc(ctx, func() { _ = body.ReadCloser.Close() })
	}
	return answer, true, nil
}

// cutBody is an answer whose way to the owner ends with it. That of a WebSocket takes what the client sends, too.
type cutBody struct {
	io.ReadCloser
	way context.Context //nolint:containedctx // ends with the owner
	end func()
}

// Read implements io.Reader. An owner that learns of the cut may end its answer as if it were whole.
func (b *cutBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) && b.way.Err() != nil {
		err = context.Cause(b.way)
	}
	return n, err //nolint:wrapcheck // it is that of the answer
}

// Write implements io.Writer.
func (b *cutBody) Write(p []byte) (int, error) {
	if w, is := b.ReadCloser.(io.Writer); is {
		return w.Write(p) //nolint:wrapcheck // it is that of the connection
	}
	return 0, io.ErrClosedPipe
}

// Close implements io.Closer.
func (b *cutBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close() //nolint:wrapcheck // it is that of the answer
}

// Ask asks all other gateways that run the same as this one was asked, and returns the bodies of their answers. One
// that does not answer within askWithin is left out.
func (n *Node) Ask(r *http.Request) (answers [][]byte) {
	if n == nil || Forwarded(r.Context()) {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), askWithin)
	defer cancel()
	who, err := senderOf(ctx)
	all, failed := n.store.Gateways(ctx)
	if err = errors.Join(err, failed); err != nil {
		n.logger.Warn("the other gateways cannot be asked", "error", err)
		return nil
	}
	answers = make([][]byte, len(all))
	var asked sync.WaitGroup
	for i, g := range all {
		if g.ID != n.store.Self().ID && g.Address != "" {
			asked.Go(func() { answers[i] = n.ask(ctx, r, g, who) })
		}
	}
	asked.Wait()
	return slices.DeleteFunc(answers, func(body []byte) bool { return body == nil })
}

// askWithin bounds the wait for the answers of other gateways, and mostAnswer the size of one.
const (
	askWithin  = 2 * time.Second
	mostAnswer = 64 << 20
)

// ask asks one gateway. It returns nil if that does not answer.
func (n *Node) ask(ctx context.Context, r *http.Request, g eventlog.Gateway, who string) []byte {
	out := r.Clone(ctx)
	out.Body, out.ContentLength = http.NoBody, 0
	out.Header = withoutCredentials(out.Header, false)
	out.Header.Del("Accept-Encoding")
	out.Header.Set(senderHeader, who)
	to := &toOwner{Node: n, owner: g}
	answer, _, err := to.try(out)
	if err == nil {
		defer answer.Body.Close()
		var body []byte
		body, err = io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
		if err == nil && answer.StatusCode == http.StatusOK {
			return body
		}
	}
	n.logger.Warn("another gateway does not answer", "gateway", g.Name, "path", r.URL.Path, "error", err)
	return nil
}
