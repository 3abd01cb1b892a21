package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/policy/box"
)

// Server is a Transport to a server that runs already, or to a program that serves HTTP. It carries
// the calls of a Session with a [Feed], which connects it. Errors of calls are a *httpjson.Error
// below the adapter's name.
type Server struct {
	// Adapter begins errors, such as "opencode".
	Adapter string
	// URL is the address of a server that runs already; "" starts the program.
	URL string
	// Username and Password go with each call, if Password is not empty, and Query always.
	Username, Password string
	Query              url.Values
	// Command, Args and Env are the program, which runs in Dir and Box and is noted in StateDir.
	Command       string
	Args, Env     []string
	Dir, StateDir string
	Box           box.Rule
	// Listening matches the line that the program prints when it is ready. The first group
	// is the address.
	Listening *regexp.Regexp
	// NotFound is the error when there is no such program: it says how to install it.
	NotFound error
	// StartTime and CallTime bound the start and each call; 60 s and 30 s if zero.
	StartTime, CallTime time.Duration

	mu     sync.Mutex // guards what follows
	conn   *connection
	closed bool
}

var _ Transport = (*Server)(nil)

// connection is a connection to a server, with the program if it was started here.
type connection struct {
	of   *Server
	http HTTP
	proc *procio.Process // nil if the server runs without us

	life context.Context //nolint:containedctx // ends with the connection
	end  context.CancelFunc
	done chan struct{} // closed when the process has ended
	why  string        // the process ended; set before done is closed
}

// lastWords bounds how long the event stream of a process that has ended is read. The stream
// ends with the process, once it is read; only a process that inherited it holds it open.
const lastWords = 10 * time.Second

// connections bounds the connections to a server that has a network of its own.
const connections = 16

// Reach finds or starts the server, for calls without a Session. Close ends what Reach has started.
func (p *Server) Reach(ctx context.Context) error {
	_, err := p.connect(ctx)
	return err
}

// connect finds or starts the server.
func (p *Server) connect(ctx context.Context) (*connection, error) {
	c := &connection{of: p, done: make(chan struct{})}
	c.life, c.end = context.WithCancel(context.Background())
	at, err, config := p.URL, error(nil), httpjson.Config{Username: p.Username, Password: p.Password, Timeout: p.CallTime}
	if at == "" {
		at, err = c.launch(ctx)
		if p.Box.Network != nil && err == nil { // the server is in a network of its own
			config.Transport = &http.Transport{DialContext: c.proc.Dial, MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
		}
	}
	if err == nil {
		config.URL = at
		c.http.Client, err = httpjson.New(config)
		err = p.named(err)
	}
	p.mu.Lock()
	if p.closed && err == nil {
		err = agentkit.ErrClosed
	}
	if err == nil {
		p.conn = c
	}
	p.mu.Unlock()
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// current returns the connection.
func (p *Server) current() (*connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn == nil || p.conn.gone() {
		return nil, agentkit.ErrClosed
	}
	return p.conn, nil
}

// launch starts the program and returns its address.
func (c *connection) launch(ctx context.Context) (string, error) {
	p := c.of
	box := p.Box
	box.Sockets = connections
	proc, err := procio.Start(procio.Config{Path: p.Command, Args: p.Args, Dir: p.Dir, Env: p.Env, StateDir: p.StateDir, Box: box})
	if err != nil {
		return "", agentkit.Unstarted(p.Adapter, p.Command, p.NotFound, err)
	}
	c.proc = proc
	found := make(chan string, 1)
	go c.drain(found)
	limit, command := cmp.Or(p.StartTime, time.Minute), strings.Join(append([]string{p.Command}, p.Args...), " ")
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case at := <-found:
		return at, nil
	case <-c.done:
		return "", fmt.Errorf("%s: `%s` ended before it was ready: %s", p.Adapter, command, c.why)
	case <-timer.C:
		return "", fmt.Errorf("%s: `%s` was not ready within %v: run the command in the workspace to see why", p.Adapter, command, limit)
	case <-ctx.Done():
		return "", fmt.Errorf("%s: the start was given up: %w", p.Adapter, context.Cause(ctx))
	}
}

// drain reads the program's output to its end.
func (c *connection) drain(found chan<- string) {
	for {
		line, err := c.proc.ReadLine()
		if at := c.of.Listening.FindSubmatch(line); at != nil {
			select {
			case found <- string(at[1]):
			default:
			}
		}
		if _, long := errors.AsType[procio.LineTooLongError](err); err != nil && !long {
			c.why = c.proc.Why() // Close gives up on what the process has still to say
			_ = c.proc.Close()
			break
		}
	}
	close(c.done)
	select {
	case <-c.life.Done():
	case <-time.After(lastWords):
	}
	c.end()
}

// close ends the connection, and the program if it was started here. A server with an open
// stream does not end by itself, so close terminates the program.
func (c *connection) close() {
	c.end()
	if c.http.Client != nil {
		defer c.http.Close()
	}
	if c.proc != nil {
		c.proc.Terminate()
		_ = c.proc.Close()
		<-c.done
	}
}

// lost ends the connection, whose server does not answer any more. What a process that was started
// here has sent is still read.
func (c *connection) lost() {
	if c.proc == nil {
		c.close()
		return
	}
	c.proc.Terminate()
	_ = c.proc.Close() // drain does the rest
}

// gone reports whether the connection or the process has ended.
func (c *connection) gone() bool {
	select {
	case <-c.done:
		return true
	default:
		return c.life.Err() != nil
	}
}

// Close implements Transport.
func (p *Server) Close() {
	p.mu.Lock()
	c := p.conn
	p.closed = true
	p.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// Do implements Transport. The server knows nobody but the gateway.
func (p *Server) Do(ctx context.Context, call Call, _ agent.Caller) (answer json.RawMessage, err error) {
	c, err := p.current()
	if err == nil {
		call.Query = p.Query
		answer, err = c.http.Do(ctx, call, agent.Caller{})
	}
	return answer, p.named(err)
}

// Stream implements Transport.
func (p *Server) Stream(ctx context.Context, call Call, _ agent.Caller) (stream Stream, err error) {
	c, err := p.current()
	if err == nil {
		call.Query = p.Query
		stream, err = c.http.Stream(ctx, call, agent.Caller{})
	}
	return stream, p.named(err)
}

func (p *Server) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", p.Adapter, err)
}
