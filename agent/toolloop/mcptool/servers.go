package mcptool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tributary-dev/tributary/agent/toolloop"
)

// connectTime bounds the start of a server and the listing of its tools.
const connectTime = 20 * time.Second

// Servers are the MCP servers of a session, in the order of their names. One goroutine
// at a time may use them.
type Servers []*server

// New returns servers that are not connected yet.
func New(servers map[string]Server, at Place) (all Servers) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		all = append(all, &server{Server: servers[name], name: name, place: at})
	}
	return all
}

// Tools lists the tools of all servers. Tools calls failed for each server whose tools
// are missing, unless ctx has ended.
func (s Servers) Tools(ctx context.Context, failed func(server string, err error)) (all []toolloop.Tool) {
	for _, server := range s {
		tools, err := server.tools(ctx)
		if err != nil && ctx.Err() == nil {
			failed(server.name, err)
		}
		all = append(all, tools...)
	}
	return all
}

// Close disconnects from the servers and ends their processes.
func (s Servers) Close() {
	for _, server := range s {
		server.close()
	}
}

// tools lists the server's tools, and connects to the server if need be.
func (s *server) tools(ctx context.Context) ([]toolloop.Tool, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTime, fmt.Errorf("no answer within %s", connectTime))
	defer cancel()
	if s.session != nil {
		if all, err := s.list(ctx); err == nil {
			return all, nil
		}
		s.close() // the connection of an earlier turn is gone
	}
	err := s.connect(ctx)
	if err != nil {
		return nil, s.lost(ctx, err)
	}
	all, err := s.list(ctx)
	if err != nil {
		return nil, s.lost(ctx, err)
	}
	return all, nil
}

func (s *server) list(ctx context.Context) (all []toolloop.Tool, err error) {
	for t, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return nil, err
		}
		all = append(all, toolloop.Tool{Name: toolName(s.name, t.Name), Description: cmp.Or(t.Description, t.Title), Schema: schema, Run: s.runs(t.Name)})
	}
	return all, nil
}

func (s *server) runs(tool string) func(context.Context, json.RawMessage, io.Writer) (json.RawMessage, error) {
	session := s.session
	return func(ctx context.Context, input json.RawMessage, _ io.Writer) (json.RawMessage, error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: input})
		if err != nil {
			return nil, fmt.Errorf("the MCP server %s did not answer: %w", s.name, s.public(err))
		}
		text, whole := content(result)
		switch {
		case result.IsError:
			return nil, errors.New(cmp.Or(text, "the tool failed without a word"))
		case whole:
			return json.Marshal(text)
		default:
			return json.Marshal(result)
		}
	}
}

// content is the text of a result, and whether the text is all that the result has.
func content(r *mcp.CallToolResult) (text string, whole bool) {
	var texts []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n"), len(texts) == len(r.Content) && (len(texts) > 0 || r.StructuredContent == nil)
}

var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// toolName is the name that a model calls a server's tool by.
func toolName(server, tool string) string {
	name := notInName.ReplaceAllString("mcp__"+server+"__"+tool, "_")
	return name[:min(len(name), 64)]
}

// bearer adds a token to requests.
type bearer struct {
	*http.Transport
	token string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.Transport.RoundTrip(r)
}
