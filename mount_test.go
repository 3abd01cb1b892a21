package tributary_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary"
	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/internal/testkit/installed"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parrot is an agent that repeats the prompt, and asks before it pays.
func parrot(_ context.Context, r uiendpoint.Request) iter.Seq2[uistream.Chunk, error] {
	return func(yield func(uistream.Chunk, error) bool) {
		switch {
		case r.MessageID != "":
			yield(uistream.ToolOutputAvailable{ToolCallID: "c1", Output: []byte(`"paid"`)}, nil)
		case r.Text() == "pay":
			_ = yield(uistream.ToolInputAvailable{ToolCallID: "c1", ToolName: "pay", Input: []byte(`{}`)}, nil) &&
				yield(uistream.ToolApprovalRequest{ToolCallID: "c1", ApprovalID: "a1"}, nil)
		default:
			yield(uistream.TextDelta{Delta: r.Text()}, nil)
		}
	}
}

// mounted is a gateway below /deep/agents of a server. The header User names the person.
func mounted(t *testing.T, o tributary.Options) string {
	t.Helper()
	o.Sessions = session.Options{Default: "parrot", Agents: map[string]session.Agent{"parrot": {Runtime: uiendpoint.Runtime{Func: parrot}}}}
	o.Who = func(r *http.Request) (access.Principal, bool) {
		name := r.Header.Get("User")
		return access.Principal{ID: name, Name: name, Role: access.Collaborator}, name != ""
	}
	g, err := tributary.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/deep/agents/", http.StripPrefix("/deep/agents", g))
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		if err := g.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return server.URL + "/deep/agents"
}

func send(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

const hello = `{"id":"c1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"hello"}]}]}`

func TestK17_AFunctionBehindAPrefixOfAnotherServer(t *testing.T) {
	at := mounted(t, tributary.Options{})
	if status, stream := send(t, "POST", at+"/api/chat", hello, "User", "ann"); status != 200 || !strings.Contains(stream, `"delta":"hello"`) {
		t.Errorf("%d %s", status, stream)
	}
	if status, stream := send(t, "GET", at+"/api/chat/c1/stream", "", "User", "ann"); status != 200 || !strings.Contains(stream, `"delta":"hello"`) {
		t.Errorf("resumed: %d %s", status, stream)
	}
}

func TestK17_TheRealClientsSpeakToAMountedGateway(t *testing.T) {
	_, err := os.Stat("test/conformance/node_modules/ai-7.0.173")
	installed.Needed(t, err == nil, "the AI SDK is not installed: make uiendpoint")
	at := mounted(t, tributary.Options{Permits: []access.Who{{Role: access.Collaborator}}})
	cmd := exec.CommandContext(t.Context(), "node", "uiendpoint/clients.mjs", at)
	cmd.Dir, cmd.Stderr = "test/conformance", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const paid = "paid"
	want := fmt.Sprintf("5.0.277|hello|hello\n6.0.323|hello|%[1]s|%[1]s\n7.0.173|hello|%[1]s|%[1]s\n", paid)
	if got := string(out); got != want {
		t.Errorf("the clients show\n%s, want\n%s", got, want)
	}
}

func TestOnlyKnownPeopleComeIn(t *testing.T) {
	at := mounted(t, tributary.Options{})
	for _, route := range [][2]string{{"POST", "/api/chat"}, {"GET", "/api/sessions"}, {"GET", "/metrics"}, {"GET", "/healthz"}} {
		if status, answer := send(t, route[0], at+route[1], hello); status != 401 {
			t.Errorf("%v: %d %s", route, status, answer)
		}
	}
}

func TestASessionIsPrivateUnlessTheServerSharesIt(t *testing.T) {
	for shared, want := range map[bool]int{false: 404, true: 200} {
		at := mounted(t, tributary.Options{Shared: shared})
		send(t, "POST", at+"/api/chat", hello, "User", "ann")
		if status, answer := send(t, "GET", at+"/api/sessions/c1/messages", "", "User", "bob"); status != want {
			t.Errorf("shared %v: %d %s", shared, status, answer)
		}
	}
}

func TestAPageOfAnotherSiteSendsNothing(t *testing.T) {
	at := mounted(t, tributary.Options{})
	if status, answer := send(t, "POST", at+"/api/chat", hello, "User", "ann", "Origin", "https://evil.test"); status != 403 {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := send(t, "GET", at+"/api/sessions/c1/stream", "", "User", "ann", "Origin", "https://evil.test", "Connection", "Upgrade", "Upgrade", "websocket"); status != 403 {
		t.Errorf("a socket: %d %s", status, answer)
	}
	if status, answer := send(t, "POST", at+"/api/chat", hello, "User", "ann", "Origin", strings.TrimSuffix(at, "/deep/agents")); status != 200 {
		t.Errorf("our own page: %d %s", status, answer)
	}
}

func TestAServerMustKnowItsUsers(t *testing.T) {
	if _, err := tributary.New(t.Context(), tributary.Options{}); err == nil || !strings.Contains(err.Error(), "Options.Who is missing") {
		t.Error(err)
	}
}

func TestTwoGatewaysDoNotShareADirectory(t *testing.T) {
	dir := t.TempDir()
	mounted(t, tributary.Options{Dir: dir})
	who := func(*http.Request) (access.Principal, bool) { return access.Principal{}, false }
	if _, err := tributary.New(t.Context(), tributary.Options{Dir: dir, Who: who}); err == nil {
		t.Error("the directory was opened twice")
	}
}
