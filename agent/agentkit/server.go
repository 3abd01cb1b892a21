package agentkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/policy/box"
)

// ServerSpec describes a server: the address of one that runs already, or a program that
// serves HTTP.
type ServerSpec struct {
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
}

// Server is a connection to a server.
type Server struct {
	spec   ServerSpec
	client *httpjson.Client
	proc   *procio.Process // nil if the server runs without us

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

// Reach finds or starts the server. Close ends what Reach has started.
func (p ServerSpec) Reach(ctx context.Context) (*Server, error) {
	s := &Server{spec: p, done: make(chan struct{})}
	s.life, s.end = context.WithCancel(context.Background())
	at, err, config := p.URL, error(nil), httpjson.Config{Username: p.Username, Password: p.Password, Timeout: p.CallTime}
	if at == "" {
		at, err = s.launch(ctx)
		if p.Box.Network != nil && err == nil { // the server is in a network of its own
			config.Transport = &http.Transport{DialContext: s.proc.Dial, MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
		}
	}
	if err == nil {
		config.URL = at
		s.client, err = httpjson.New(config)
		err = p.named(err)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// launch starts the program and returns its address.
func (s *Server) launch(ctx context.Context) (string, error) {
	p := s.spec
	p.Box.Sockets = connections
	proc, err := procio.Start(procio.Config{Path: p.Command, Args: p.Args, Dir: p.Dir, Env: p.Env, StateDir: p.StateDir, Box: p.Box})
	if err != nil {
		return "", Unstarted(p.Adapter, p.Command, p.NotFound, err)
	}
	s.proc = proc
	found := make(chan string, 1)
	go s.drain(found)
	limit, command := cmp.Or(p.StartTime, time.Minute), strings.Join(append([]string{p.Command}, p.Args...), " ")
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case at := <-found:
		return at, nil
	case <-s.done:
		return "", fmt.Errorf("%s: `%s` ended before it was ready: %s", p.Adapter, command, s.why)
	case <-timer.C:
		return "", fmt.Errorf("%s: `%s` was not ready within %v: run the command in the workspace to see why", p.Adapter, command, limit)
	case <-ctx.Done():
		return "", fmt.Errorf("%s: the start was given up: %w", p.Adapter, context.Cause(ctx))
	}
}

// drain reads the program's output to its end.
func (s *Server) drain(found chan<- string) {
	for {
		line, err := s.proc.ReadLine()
		if at := s.spec.Listening.FindSubmatch(line); at != nil {
			select {
			case found <- string(at[1]):
			default:
			}
		}
		if _, long := errors.AsType[procio.LineTooLongError](err); err != nil && !long {
			s.why = s.proc.Why() // Close gives up on what the process has still to say
			_ = s.proc.Close()
			break
		}
	}
	close(s.done)
	select {
	case <-s.life.Done():
	case <-time.After(lastWords):
	}
	s.end()
}

// Close ends the connection, and the program if it was started here. A server with an open
// stream does not end by itself, so Close terminates the program.
func (s *Server) Close() {
	s.end()
	if s.client != nil {
		defer s.client.Close()
	}
	if s.proc != nil {
		s.proc.Terminate()
		_ = s.proc.Close()
		<-s.done
	}
}

// lost ends the connection, whose server does not answer any more. What a process that was started
// here has sent is still read.
func (s *Server) lost() {
	if s.proc == nil {
		s.Close()
		return
	}
	s.proc.Terminate()
	_ = s.proc.Close() // drain does the rest
}

// gone reports whether the connection or the process has ended.
func (s *Server) gone() bool {
	select {
	case <-s.done:
		return true
	default:
		return s.life.Err() != nil
	}
}

// Fetch calls the server. The error of a call is a *httpjson.Error below the adapter's name.
func (s *Server) Fetch(ctx context.Context, method, path string, in, out any) error {
	return s.spec.named(s.client.Do(ctx, httpjson.Call{Method: method, Path: path, Query: s.spec.Query, In: in, Out: out}))
}

// send makes a call and drops the answer.
func (s *Server) send(ctx context.Context, c Call) error {
	if c.Body == nil {
		return s.Fetch(ctx, c.Method, c.Path, nil, nil)
	}
	return s.Fetch(ctx, c.Method, c.Path, c.Body, nil)
}

// stream opens a stream that ends with the connection.
func (s *Server) stream(path string) (io.ReadCloser, error) {
	body, err := s.client.Stream(s.life, httpjson.Call{Method: "GET", Path: path, Query: s.spec.Query})
	if err != nil {
		return nil, s.spec.named(err)
	}
	return body, nil
}

func (p ServerSpec) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", p.Adapter, err)
}
