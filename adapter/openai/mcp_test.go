package openai_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/toolloop/mcptool"
	"github.com/tributary-dev/tributary/trace"
)

// asServer makes this test binary an MCP server on its standard streams.
const asServer = "TEST_AS_MCP_SERVER"

// beServer runs this process as a server, if that is what it was started for.
func beServer() {
	if os.Getenv(asServer) != "" {
		_ = newServer().Run(context.Background(), &mcp.StdioTransport{})
		os.Exit(0)
	}
}

func newServer() *mcp.Server {
	type in struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "shout", Description: "Shouts."}, func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		switch in.Text {
		case "fail":
			return nil, nil, errors.New("no voice")
		case "die":
			os.Exit(3)
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToUpper(in.Text)}}}, nil, nil
	})
	return s
}

// shouter is a model that calls the server's tool with the prompt.
func shouter(c conversation) reply {
	if c.answered {
		return reply{text: c.result}
	}
	return reply{name: "mcp__test__shout", input: `{"text":"` + c.last() + `"}`}
}

func stdio(t *testing.T) mcptool.Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcptool.Server{Command: exe, Env: map[string]string{asServer: "1"}}
}

func over2HTTP(t *testing.T) mcptool.Server {
	t.Helper()
	t.Setenv("MCP_TOKEN", "mine")
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer() }, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer mine" {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return mcptool.Server{URL: srv.URL, TokenEnv: "MCP_TOKEN"}
}

func TestToolsOfMCPServers(t *testing.T) {
	for name, server := range map[string]func(*testing.T) mcptool.Server{"stdio": stdio, "http": over2HTTP} {
		t.Run(name, func(t *testing.T) {
			s := open(t, newFake(t, shouter).runtime(openai.Options{MCP: map[string]mcptool.Server{"test": server(t)}}))
			for text, want := range map[string]string{"hello": "HELLO\n", "fail": "Error: no voice\n"} {
				events, stop := s.prompt(text)
				if got := agenttest.Said(events); got != want || stop.Outcome != trace.OutcomeCompleted {
					t.Errorf("the model got %q, want %q; the turn ended as %+v; notices %q", got, want, stop, notices(events))
				}
				if n := len(agenttest.Each[trace.PermissionRequest](events)); n != 1 {
					t.Errorf("permission was asked %d times", n)
				}
			}
		})
	}
}

// The name of a tool tells which server runs it, so that what was granted for one is not
// granted for another.
func TestNamesOfServersThatCouldBeTakenForOthersAreRefused(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"files": true, "my-files_2": true, "a__b": false, "a.b": false, "a_": false, "_a": false, "": false, "ä": false, strings.Repeat("x", 33): false,
	} {
		err := mcptool.Server{Command: "x"}.Check("options.mcp", name)
		if (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestServerThatDiesEndsNoTurnAndIsStartedAgain(t *testing.T) {
	s := open(t, newFake(t, shouter).runtime(openai.Options{MCP: map[string]mcptool.Server{"test": stdio(t)}}))
	events, stop := s.prompt("die")
	if got := agenttest.Said(events); !strings.Contains(got, "the MCP server test did not answer") || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the model got %q, the turn ended as %+v", got, stop)
	}
	if events, _ := s.prompt("again"); agenttest.Said(events) != "AGAIN\n" {
		t.Errorf("in the next turn the model got %q, notices %q", agenttest.Said(events), notices(events))
	}
}

func TestServerThatCannotBeReachedEndsNoTurn(t *testing.T) {
	for want, server := range map[string]mcptool.Server{
		"The tools of the MCP server test are missing: no-such-program was not found: correct the command, or install it.": {Command: "no-such-program"},
		"The tools of the MCP server test are missing: it ended: exit status 1: broken.":                                   {Command: "bash", Args: []string{"-c", "echo broken >&2; exit 1"}},
		"connection refused": {URL: "http://127.0.0.1:1"},
	} {
		events, stop := open(t, newFake(t, actor).runtime(openai.Options{MCP: map[string]mcptool.Server{"test": server}})).prompt("hello")
		got := notices(events)
		if len(got) != 1 || !strings.Contains(got[0], want) || stop.Outcome != trace.OutcomeCompleted {
			t.Errorf("the user reads %q, want %q; the turn ended as %+v", got, want, stop)
		}
	}
}
