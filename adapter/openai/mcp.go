package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/internal/procio"
)

// connectTime bounds the start of an MCP server and the listing of its tools.
const connectTime = 20 * time.Second

// mcpServer is an MCP server of a session. It is connected with the first turn, and again
// in a later turn if the connection was lost.
type mcpServer struct {
	name     string
	spec     Server
	env      []string
	cwd      string
	stateDir string
	session  *mcp.ClientSession
	process  *procio.Process
	wire     *http.Transport
}

func newServers(e endpoint, cfg agent.Config) (all []*mcpServer) {
	for _, name := range slices.Sorted(maps.Keys(e.Options.MCP)) {
		s := &mcpServer{name: name, spec: e.Options.MCP[name], env: slices.Clone(e.Env), cwd: cfg.Cwd, stateDir: cfg.StateDir, wire: e.wire}
		for _, key := range slices.Sorted(maps.Keys(s.spec.Env)) {
			s.env = append(s.env, key+"="+s.spec.Env[key])
		}
		all = append(all, s)
	}
	return all
}

// tools lists the server's tools, and connects to the server if need be.
func (s *mcpServer) tools(ctx context.Context) ([]toolloop.Tool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTime, fmt.Errorf("no answer within %s", connectTime))
	defer cancel()
	var listed []*mcp.Tool
	var err error
	for range 2 { // the connection of an earlier turn may be gone
		fresh := s.session == nil
		if fresh {
			err = s.connect(ctx)
		}
		if err == nil {
			listed, err = s.list(ctx)
		}
		if err == nil {
			break
		}
		err = s.lost(ctx, err)
		if fresh {
			return nil, err
		}
	}
	var all []toolloop.Tool
	for _, t := range listed {
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			continue
		}
		all = append(all, toolloop.Tool{Name: toolName(s.name, t.Name), Description: cmp.Or(t.Description, t.Title), Schema: schema, Run: s.runs(t.Name)})
	}
	return all, err
}

func (s *mcpServer) list(ctx context.Context) (all []*mcp.Tool, err error) {
	for t, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (s *mcpServer) connect(ctx context.Context) error {
	var transport mcp.Transport
	if s.spec.URL != "" {
		transport = &mcp.StreamableClientTransport{Endpoint: s.spec.URL, DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: bearer{s.wire, os.Getenv(s.spec.TokenEnv)}}}
	} else {
		p, err := procio.Start(procio.Config{Path: s.spec.Command, Args: s.spec.Args, Dir: s.cwd, Env: s.env, StateDir: s.stateDir})
		if procio.NotFound(err) {
			return fmt.Errorf("%s was not found: correct the command, or install it", s.spec.Command)
		}
		if err != nil {
			return err
		}
		s.process = p
		pipe := &pipe{p: p}
		transport = &mcp.IOTransport{Reader: pipe, Writer: pipe}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "tributary", Version: "1"}, nil).Connect(ctx, transport, nil)
	s.session = session
	return err
}

// lost closes what is left of a connection and says why it failed.
func (s *mcpServer) lost(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if s.process != nil {
		select {
		case <-s.process.Exited():
			err = fmt.Errorf("it ended: %s", s.process.Why())
		default:
		}
	}
	s.close()
	return err
}

func (s *mcpServer) close() {
	if s.process != nil {
		_ = s.process.Close() // its group is gone, or cannot be ended
	}
	if s.session != nil {
		_ = s.session.Close() // nothing is left to do about it
	}
	s.session, s.process = nil, nil
}

func (s *mcpServer) runs(tool string) func(context.Context, json.RawMessage, io.Writer) (json.RawMessage, error) {
	session := s.session
	return func(ctx context.Context, input json.RawMessage, _ io.Writer) (json.RawMessage, error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: input})
		if err != nil {
			return nil, fmt.Errorf("the MCP server %s did not answer: %w", s.name, err)
		}
		output := content(result)
		if result.IsError {
			var text string
			_ = json.Unmarshal(output, &text) // an error is a text
			return nil, errors.New(cmp.Or(text, "the tool failed without a word"))
		}
		return output, nil
	}
}

// content is a result as one JSON value: its text, or else all that it has.
func content(r *mcp.CallToolResult) json.RawMessage {
	var texts []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	var value any = strings.Join(texts, "\n")
	if len(texts) < len(r.Content) || len(texts) == 0 && r.StructuredContent != nil {
		value = r
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return raw
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// toolName is the name that a model calls a server's tool by.
func toolName(server, tool string) string {
	name := "mcp__" + notInName.ReplaceAllString(server, "_") + "__" + notInName.ReplaceAllString(tool, "_")
	return name[:min(len(name), 64)]
}

// pipe carries lines to and from a server's process.
type pipe struct {
	p    *procio.Process
	rest string
}

// Read implements io.Reader.
func (p *pipe) Read(b []byte) (int, error) {
	if p.rest == "" {
		text, err := p.p.ReadText()
		if err != nil {
			return 0, err
		}
		p.rest = text
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Write implements io.Writer.
func (p *pipe) Write(b []byte) (int, error) {
	return len(b), p.p.WriteLine(context.Background(), bytes.TrimSuffix(b, []byte("\n")))
}

// Close implements io.Closer.
func (p *pipe) Close() error { return p.p.Close() }

// bearer adds a token to requests.
type bearer struct {
	wire  *http.Transport
	token string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.wire.RoundTrip(r)
}
