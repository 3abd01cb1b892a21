package mcptool_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/agent/toolloop/mcptool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type in struct {
	Text string `json:"text"`
}

// serve is a server of two tools, one of which has an unusual name.
func serve(t *testing.T) mcptool.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	answer := func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
		switch in.Text {
		case "fail":
			return nil, nil, errors.New("no voice")
		case "picture":
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{Data: []byte("hi"), MIMEType: "image/png"}}}, nil, nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToUpper(in.Text)}, &mcp.TextContent{Text: "!"}}}, nil, nil
	}
	mcp.AddTool(s, &mcp.Tool{Name: "shout", Description: "Shouts."}, answer)
	mcp.AddTool(s, &mcp.Tool{Name: "shout.very-" + strings.Repeat("long", 20)}, answer)
	srv := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(srv.Close)
	return mcptool.Server{URL: srv.URL}
}

func TestToolsOfAllServersAndThoseThatFail(t *testing.T) {
	servers := mcptool.New(map[string]mcptool.Server{
		"my server": serve(t), "gone": {Command: "no-such-program"}, "away": {URL: "http://127.0.0.1:1/mcp?key=secret-key"},
	}, mcptool.Place{})
	defer servers.Close()
	failed := map[string]string{}
	for range 2 { // the second time, the connection is there
		tools := servers.Tools(t.Context(), func(server string, err error) { failed[server] = err.Error() })
		if len(tools) != 2 || tools[0].Name != "mcp__my_server__shout" || !strings.HasPrefix(tools[1].Name, "mcp__my_server__shout_very-long") || len(tools[1].Name) != 64 {
			t.Fatalf("the tools are %+v", tools)
		}
		for text, want := range map[string]string{"hello": `"HELLO\n!"`, "fail": "no voice", "picture": `"mimeType":"image/png"`} {
			out, err := tools[0].Run(t.Context(), []byte(`{"text":"`+text+`"}`), io.Discard)
			if got := string(out); !strings.Contains(got, want) && (err == nil || err.Error() != want) {
				t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
			}
		}
	}
	if want := "no-such-program was not found: correct the command, or install it"; len(failed) != 2 || failed["gone"] != want || !strings.Contains(failed["away"], "connection refused") || strings.Contains(failed["away"], "secret-key") {
		t.Errorf("failed: %q, want %q", failed, want)
	}
}
