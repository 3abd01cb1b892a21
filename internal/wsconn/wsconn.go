// Package wsconn is a WebSocket connection with bounds: of a frame's size, of the time for
// opening, writing and closing, and of the silence of a peer that has gone. [Dial] is for
// clients and [Accept] for servers. A [Queue] holds frames for a peer that reads slowly.
package wsconn

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/internal/address"
)

// Config holds the bounds of a connection. Each zero value has a default.
type Config struct {
	// Client sends the request of Dial. Redirects are errors unless the Client follows them.
	Client *http.Client
	// Header goes with that request.
	Header http.Header
	// Subprotocols are offered by Dial, and taken by Accept, the best one first.
	Subprotocols []string
	// MaxFrame bounds a frame in bytes; 64 MB. A negative number is no bound.
	MaxFrame int64
	// PieceTime bounds the wait for the next piece of a frame that has begun, and MinRate is
	// how many bytes a second must come on average after the first PieceTime. If zero, a
	// frame may take for ever.
	PieceTime time.Duration
	MinRate   int64
	// Hold gets the number of bytes that Read is about to take for a large frame. Hold may
	// wait, and its error ends Read. The next Read, or a Read that fails, calls Hold with 0.
	Hold func(bytes int64) error
	// OpenTime bounds the opening, 30 s, and WriteTime each piece of a frame that is written,
	// 10 s. A piece has 32 KB.
	OpenTime, WriteTime time.Duration
	// PingEvery is the time between two pings, 30 s, and PongTime how long the answer to a
	// ping may take, 30 s.
	PingEvery, PongTime time.Duration
}

func (c Config) filled() Config {
	c.MaxFrame = cmp.Or(c.MaxFrame, 64<<20)
	c.OpenTime, c.WriteTime = cmp.Or(c.OpenTime, 30*time.Second), cmp.Or(c.WriteTime, 10*time.Second)
	c.PingEvery, c.PongTime = cmp.Or(c.PingEvery, 30*time.Second), cmp.Or(c.PongTime, 30*time.Second)
	if c.Hold == nil {
		c.Hold = func(int64) error { return nil }
	}
	if c.Client == nil {
		c.Client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return c
}

// pieceSize is the size of the pieces in which a large frame is written.
const pieceSize = 32 << 10

// Conn is an open connection. One goroutine reads; any goroutine writes and closes.
type Conn struct {
	conn *websocket.Conn
	cfg  Config
	busy atomic.Bool // nobody reads: a pong would not be seen
	gone atomic.Bool // the peer answered no ping
	// writing holds a token while a frame is written: the time of a frame begins with its first piece.
	writing chan struct{}

	end  context.CancelFunc
	work sync.WaitGroup
	once sync.Once
}

// Dial opens a connection. Every error is an *Error.
func Dial(ctx context.Context, url string, cfg Config) (*Conn, error) {
	cfg = cfg.filled()
	opening, cancel := context.WithTimeout(ctx, cfg.OpenTime)
	defer cancel()
	conn, response, err := websocket.Dial(opening, url, &websocket.DialOptions{ //nolint:bodyclose // its documentation: never needed
		HTTPClient: cfg.Client, HTTPHeader: cfg.Header, Subprotocols: cfg.Subprotocols,
	})
	if err != nil {
		refusal := refused(ctx, opening, cfg, response, err)
		refusal.Message = address.Redact(refusal.Message, url)
		return nil, refusal
	}
	return open(conn, cfg), nil //nolint:contextcheck // the connection outlives its opening
}

// Accept makes a connection of a request. The caller has checked the Origin of the request.
// When Accept returns an error, the response has been written.
func Accept(w http.ResponseWriter, r *http.Request, cfg Config) (*Conn, error) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: cfg.Subprotocols, InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, &Error{Message: "the request opens no WebSocket: " + innermost(err), err: err}
	}
	return open(conn, cfg.filled()), nil //nolint:contextcheck // the connection outlives its opening
}

func open(conn *websocket.Conn, cfg Config) *Conn {
	c := &Conn{conn: conn, cfg: cfg, writing: make(chan struct{}, 1)}
	c.busy.Store(true)
	conn.SetReadLimit(c.cfg.MaxFrame)
	life, end := context.WithCancel(context.Background())
	c.end = end
	c.work.Go(func() { c.ping(life) })
	return c
}

// Write sends a text frame. The end of ctx does not break a frame off, because that would
// end the connection. Every error is an *Error.
func (c *Conn) Write(ctx context.Context, frame []byte) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	late := time.AfterFunc(c.cfg.WriteTime, cancel)
	defer late.Stop()
	err := c.write(ctx, frame, late)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &Error{Message: "the peer does not read", err: context.DeadlineExceeded}
	}
	return c.lost(ctx, err)
}

// write sends a frame in pieces, each of which has its own time.
func (c *Conn) write(ctx context.Context, frame []byte, late *time.Timer) error {
	if len(frame) <= pieceSize {
		return c.conn.Write(ctx, websocket.MessageText, frame)
	}
	w, err := c.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	for piece := range slices.Chunk(frame, pieceSize) {
		if _, err := w.Write(piece); err != nil {
			return err
		}
		late.Reset(c.cfg.WriteTime)
	}
	return w.Close()
}

// Close says goodbye, waits for the peer's goodbye (at most five seconds), and waits for the
// Conn's goroutine. A Read that waits returns. Close is idempotent and may be called at any time.
func (c *Conn) Close() { c.CloseWith(NormalClosure, "") }

// CloseWith is Close with a code and a reason.
func (c *Conn) CloseWith(code Code, reason string) {
	c.once.Do(func() {
		_ = c.conn.Close(code, reason)
		c.end()
	})
	c.work.Wait()
}

// Cut ends the connection at once, without a goodbye. If another goroutine says goodbye at
// the moment, Cut waits for the end of that. Nothing is held for the last frame afterwards.
func (c *Conn) Cut() {
	c.end()
	_ = c.conn.CloseNow()
	c.work.Wait()
	_ = c.cfg.Hold(0)
}

// ping closes a connection whose peer has gone without a word. A reader that works on a
// frame is no reason: it would not see the pong.
func (c *Conn) ping(life context.Context) {
	tick := time.NewTicker(c.cfg.PingEvery)
	defer tick.Stop()
	for {
		select {
		case <-life.Done():
			return
		case <-tick.C:
		}
		if c.busy.Load() {
			continue
		}
		pong, cancel := context.WithTimeout(life, c.cfg.PongTime)
		err := c.conn.Ping(pong)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && !c.busy.Load() {
			c.gone.Store(true)
			_ = c.conn.CloseNow()
			return
		}
	}
}
