package opencode

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/procio"
)

// server is a server that was started, or one that is only used.
type server struct {
	client *httpjson.Client
	query  url.Values
	proc   *procio.Process // nil if the server runs without us

	life context.Context //nolint:containedctx // ends with the connection
	end  context.CancelFunc
	done chan struct{} // closed when the server is gone
	why  string        // the process ended; set before done is closed
}

// rules make the server ask about everything: the gateway's policy decides.
const rules = `{"*":"ask","bash":"ask","edit":"ask","read":"ask","glob":"ask","grep":"ask","list":"ask","task":"ask","skill":"ask","lsp":"ask",` +
	`"webfetch":"ask","websearch":"ask","codesearch":"ask","external_directory":"ask","doom_loop":"ask","todowrite":"allow","todoread":"allow","question":"allow"}`

// listening is the line of a server that is ready. A request that comes earlier is never
// answered.
var listening = regexp.MustCompile(`listening on (http://\S+)`)

// attach uses a server that runs already.
func (r Runtime) attach() (*server, error) {
	c, err := r.client(r.URL, r.Password)
	if err != nil {
		return nil, err
	}
	s := &server{client: c, done: make(chan struct{})}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// launch starts a server for one session. Only those who know the random password may
// use it.
func (r Runtime) launch(ctx context.Context, dir, stateDir string) (*server, error) {
	password := rand.Text()
	env := r.Environ
	if env == nil {
		env = os.Environ()
	}
	env = append(slices.Clone(env), "OPENCODE_PERMISSION="+rules, "KILO_PERMISSION="+rules,
		"OPENCODE_SERVER_USERNAME=opencode", "OPENCODE_SERVER_PASSWORD="+password, "KILO_SERVER_USERNAME=opencode", "KILO_SERVER_PASSWORD="+password)
	proc, err := procio.Start(procio.Config{
		Path: r.command(), Args: slices.Concat([]string{"serve", "--hostname", "127.0.0.1", "--port", "0"}, r.Args), Dir: dir, Env: env, StateDir: stateDir,
	})
	switch {
	case procio.NotFound(err):
		return nil, r.notFound()
	case err != nil:
		return nil, fmt.Errorf("opencode: %s cannot be started: %w", r.command(), err)
	}
	s := &server{proc: proc, done: make(chan struct{})}
	s.life, s.end = context.WithCancel(context.Background())
	found := make(chan string, 1)
	go s.drain(found)
	limit := cmp.Or(r.StartTime, time.Minute)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case at := <-found:
		if s.client, err = r.client(at, password); err == nil {
			return s, nil
		}
	case <-s.done:
		err = fmt.Errorf("opencode: `%s serve` ended before it was ready: %s", r.command(), s.why)
	case <-timer.C:
		err = fmt.Errorf("opencode: `%s serve` was not ready within %v: run the command in the workspace to see why", r.command(), limit)
	case <-ctx.Done():
		err = fmt.Errorf("opencode: the start was given up: %w", context.Cause(ctx))
	}
	s.close()
	return nil, err
}

// drain reads the server's output to its end.
func (s *server) drain(found chan<- string) {
	defer s.end() // after done, so that the end of the connection finds why
	defer close(s.done)
	for {
		line, err := s.proc.ReadLine()
		if at := listening.FindSubmatch(line); at != nil {
			select {
			case found <- string(at[1]):
			default:
			}
		}
		if _, long := errors.AsType[procio.LineTooLongError](err); err != nil && !long {
			s.why = s.proc.Why() // before Close, which gives up on what the process has still to say
			_ = s.proc.Close()
			return
		}
	}
}

// close ends the connection, and the server if it was started here. A server that has an
// open stream does not end by itself.
func (s *server) close() {
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

// gone reports whether the connection has ended.
func (s *server) gone() bool { return s.life.Err() != nil }

// do calls the server.
func (s *server) do(ctx context.Context, method, path string, in, out any) error {
	if err := s.client.Do(ctx, httpjson.Call{Method: method, Path: path, Query: s.query, In: in, Out: out}); err != nil {
		return fmt.Errorf("opencode: %w", err)
	}
	return nil
}

// health returns the server's version. It says whether this is such a server at all.
func (s *server) health(ctx context.Context) (string, error) {
	var out struct {
		Version string `json:"version"`
	}
	err := s.do(ctx, http.MethodGet, "/global/health", nil, &out)
	refused, _ := errors.AsType[*httpjson.Error](err)
	switch {
	case refused != nil && refused.Status == http.StatusUnauthorized && s.proc == nil:
		return "", fmt.Errorf("opencode: %s refuses the password: let token_env name a variable that holds the server's OPENCODE_SERVER_PASSWORD", refused.Server)
	case refused != nil && (refused.Status == http.StatusNotFound || refused.Status/100 == 2):
		return "", fmt.Errorf("opencode: the server at %s is no OpenCode server, or older than 1.18: update OpenCode, or correct the url", refused.Server)
	case err != nil:
		return "", err
	case out.Version == "":
		return "", errors.New("opencode: the server does not tell its version: is it OpenCode?")
	}
	return out.Version, nil
}
