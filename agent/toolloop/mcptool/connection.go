package mcptool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/internal/procio"
)

// server is a Server of a session.
type server struct {
	Server
	name    string
	place   Place
	session *mcp.ClientSession
	process *procio.Process
	wire    *http.Transport // its idle connections are closed with the session
}

func (s *server) connect(ctx context.Context) error {
	transport, err := s.transport()
	if err != nil {
		return err
	}
	s.session, err = mcp.NewClient(&mcp.Implementation{Name: "tributary", Version: "1"}, nil).Connect(ctx, transport, nil)
	return err
}

func (s *server) transport() (mcp.Transport, error) {
	if s.URL != "" {
		s.wire = http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert,errcheck // the standard library says so
		client := &http.Client{Transport: bearer{s.wire, os.Getenv(s.TokenEnv)}}
		return &mcp.StreamableClientTransport{Endpoint: s.URL, DisableStandaloneSSE: true, HTTPClient: client}, nil
	}
	env := slices.Clone(s.place.Env)
	for _, key := range slices.Sorted(maps.Keys(s.Env)) {
		env = append(env, key+"="+s.Env[key])
	}
	p, err := procio.Start(procio.Config{Path: s.Command, Args: s.Args, Dir: s.place.Dir, Env: env, StateDir: s.place.StateDir, Box: s.place.Box})
	if procio.NotFound(err) {
		return nil, fmt.Errorf("%s was not found: correct the command, or install it", s.Command)
	}
	if err != nil {
		return nil, err
	}
	s.process = p
	lines := &pipe{Process: p}
	return &mcp.IOTransport{Reader: lines, Writer: lines}, nil
}

// lost closes what is left of a connection and says why it failed.
func (s *server) lost(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if s.process != nil {
		select {
		case <-s.process.Exited():
			err = fmt.Errorf("it ended: %s", s.process.Why())
		case <-time.After(100 * time.Millisecond): // output may end a moment before the process
		}
	}
	s.close()
	return s.public(err)
}

// public is an error of the library, which may repeat the address.
func (s *server) public(err error) error {
	return errors.New(address.Redact(err.Error(), s.URL))
}

func (s *server) close() {
	if s.process != nil {
		_ = s.process.Close() // its group is gone, or cannot be ended
	}
	if s.session != nil {
		_ = s.session.Close() // nothing is left to do about it
	}
	if s.wire != nil {
		s.wire.CloseIdleConnections()
	}
	s.session, s.process, s.wire = nil, nil, nil
}

// pipe carries lines to and from a server's process.
type pipe struct {
	*procio.Process
	rest string
}

// Read implements io.Reader.
func (p *pipe) Read(b []byte) (n int, err error) {
	if p.rest == "" {
		p.rest, err = p.ReadText()
	}
	n = copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, err
}

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) {
	return len(b), p.WriteLine(context.Background(), bytes.TrimSuffix(b, []byte("\n")))
}
