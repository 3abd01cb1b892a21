package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// quickDemo is a configuration of the demo agent without pauses between its words.
const quickDemo = "agents: {demo: {options: {pace: 0s}}}\n"

// at are the flags that lead a command to a gateway of the test.
func (s *server) at(data string, args ...string) []string {
	return append(args, "--url", s.base, "--data", data)
}

func TestCommandsTalkToARunningGateway(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))

	command(t, "", "health", "--url", s.base).want(t, exitOK, "")
	r := command(t, "hello\n\ntool\nerror\n", s.at(data, "chat")...)
	r.want(t, exitFailed, "tributary: The demo agent failed, as it was asked to.\n")
	for _, want := range []string{"Hello! I am the demo agent", "The file says: Hello from the demo.\n", "This goes well so far,"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the chat lacks %q:\n%s", want, r.out)
		}
	}

	command(t, "approve\n", s.at(data, "chat")...).want(t, exitOK, "tributary: denied, since nobody is there to ask: Run echo hello\n")
	command(t, "ask\n", s.at(data, "chat", "--agent", "demo")...).want(t, exitOK, "tributary: not answered, since nobody is there to ask: Which colour?\n")

	list := command(t, "", s.at(data, "sessions", "list", "--limit", "2")...)
	list.want(t, exitOK, "There are more sessions: --limit shows up to 999.\n")
	lines := strings.Split(strings.TrimSpace(list.out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "ID ") || !strings.HasSuffix(lines[1], "  ask") {
		t.Fatalf("the list:\n%s", list.out)
	}
	id := strings.Fields(lines[2])[0]

	show := command(t, "", s.at(data, "sessions", "show", id)...)
	show.want(t, exitOK, "")
	for _, want := range []string{"session  " + id + "\n", "title    approve\n", "\n> approve\n\n", "I did not run the command"} {
		if !strings.Contains(show.out, want) {
			t.Errorf("the session lacks %q:\n%s", want, show.out)
		}
	}
	export := command(t, "", s.at(data, "sessions", "export", id)...)
	export.want(t, exitOK, "")
	_, trace := s.do("GET", "/api/sessions/"+id+"/trace", "")
	if export.out != trace || len(records(t, export.out)) < 5 {
		t.Errorf("the export is not the trace:\n%s\n%s", export.out, trace)
	}
	for format, want := range map[string]string{"markdown": "# approve\n\nSession ", "json": `[{"id":"`} {
		said := command(t, "", s.at(data, "sessions", "export", "--format", format, id)...)
		said.want(t, exitOK, "")
		if _, body := s.do("GET", "/api/sessions/"+id+"/export?format="+format, ""); said.out != body || !strings.HasPrefix(body, want) {
			t.Errorf("the export as %s:\n%s", format, said.out)
		}
	}
	again := command(t, "hello\n", s.at(data, "chat", "--session", id)...)
	if again.want(t, exitOK, ""); strings.Contains(again.out, "approve") || !strings.Contains(again.out, "Hello!") {
		t.Errorf("a chat that goes on:\n%s", again.out)
	}

	command(t, "", s.at(data, "sessions", "delete", id)...).want(t, exitUsage, "there is no terminal to ask: add --yes to delete the session "+id)
	command(t, "", s.at(data, "sessions", "delete", "--yes", id)...).want(t, exitOK, "")
	for _, args := range [][]string{{"sessions", "show"}, {"sessions", "export"}, {"sessions", "delete"}, {"logs"}, {"chat", "--session"}} {
		command(t, "", s.at(data, append(args, id)...)...).want(t, exitFailed, "tributary: there is no such session\n")
	}
	command(t, "", s.at(data, "chat", "--agent", "nobody")...).want(t, exitFailed, `there is no such agent as "nobody"`)
	command(t, "", s.at(data, "chat", "--agent", "demo", "--session", id)...).want(t, exitUsage, "use one of them")
}

func TestLogsShowASessionAsItHappens(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))
	if status, body := s.do("POST", "/api/sessions", `{"id":"one"}`); status != http.StatusCreated {
		t.Fatal(body)
	}
	signals := make(chan os.Signal, 1)
	var out, errs output
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, signals: signals}
	ended := make(chan int, 1)
	go func() { ended <- p.main(t.Context(), s.at(data, "logs", "--all", "one")) }()
	s.do("POST", "/api/sessions/one/prompt", `{"content":"tool"}`)
	for until := time.Now().Add(patience); !strings.Contains(out.String(), "The file says: Hello from the demo."); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("nothing is shown:\n%s\n%s", &out, &errs)
		}
	}
	signals <- os.Interrupt
	if status := <-ended; status != exitOK || !strings.HasPrefix(out.String(), "\n> tool\n\nI will read the file.") || errs.String() != "" {
		t.Errorf("exit status %d:\n%s\n%s", status, &out, &errs)
	}
}

func TestAGatewayThatCannotBeAskedIsOneSentence(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	wrong := answer(http.StatusUnauthorized, `{"error":"The token is not valid here."}`)
	draining := answer(http.StatusServiceUnavailable, `{"error":"The gateway is shutting down."}`)
	strange := answer(http.StatusOK, `[]`)
	token := file(t, "token", "abcdefghijklmnopqrstuvwx")
	empty := t.TempDir()
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"nobody there":        {[]string{"health", "--url", "http://127.0.0.1:1"}, 1, "tributary: there is no gateway at http://127.0.0.1:1: start it with `tributary serve`, or name another address with --url\n"},
		"shutting down":       {[]string{"health", "--url", draining}, 1, "tributary: the gateway is shutting down\n"},
		"no address":          {[]string{"health", "--url", "gateway"}, 2, `tributary: --url: "gateway" is no address of a server`},
		"wrong token":         {[]string{"sessions", "list", "--url", wrong, "--token-file", token}, 1, "does not know the token in " + token},
		"another form":        {[]string{"sessions", "list", "--url", strange, "--token-file", token}, 1, "the answer has another form than expected"},
		"no token here":       {[]string{"chat", "--url", wrong, "--data", empty}, 2, "the token in " + filepath.Join(empty, "token") + " cannot be read: no such file or directory: name its file with --token-file"},
		"no token for others": {[]string{"sessions", "list", "--url", "https://chat.example.org"}, 2, "the token for https://chat.example.org is not known: name its file with --token-file"},
		"limit":               {[]string{"sessions", "list", "--limit", "1000"}, 2, "--limit 1000 is out of range: write 1 to 999"},
		"limit in words":      {[]string{"sessions", "list", "--limit", "all"}, 2, "--limit"},
		"no session":          {[]string{"sessions", "show"}, 2, "the session is missing: write it at the end ("},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command(t, "", c.args...)
			r.want(t, c.status, c.want)
			if strings.Count(r.errors, "\n") != 1 {
				t.Errorf("more than a sentence:\n%s", r.errors)
			}
		})
	}
}

func TestTheMintedTokenStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	for url, here := range map[string]bool{
		"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true,
		"http://127.0.0.1.example.org": false, "http://10.0.0.1:8787": false, "http://localhost@example.org": false,
	} {
		r := command(t, "", "sessions", "list", "--url", url, "--data", t.TempDir())
		if asked := strings.Contains(r.errors, "is not known: name its file"); asked == here {
			t.Errorf("%s: %s", url, r.errors)
		}
	}
}

func TestConfigCheckFindsWhatAStartWouldRefuse(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	write := func(text string) string {
		path := file(t, "tributary.yaml", strings.ReplaceAll(text, "DATA", data))
		return path
	}
	for name, c := range map[string]struct {
		status     int
		text, want string
	}{
		"right":         {0, "data: DATA\nagents: {demo: {}, echo: {}}", ""},
		"unknown key":   {2, "agent: {}", `tributary.yaml:1: agent is not a key here`},
		"unknown agent": {2, "agents: {demo: {}}\ndefault_agent: claude", "is \"claude\", which is no agent"},
		"overlap":       {2, "data: DATA\nagents: {claude: {cwd: " + filepath.Dir(data) + "}}", "overlap"},
		"lost token":    {2, "data: DATA\nagents: {demo: {}}\nauth: {tokens: [{name: ci, role: viewer, token_env: TRIBUTARY_NO_SUCH_VARIABLE}]}", "TRIBUTARY_NO_SUCH_VARIABLE"},
		"jwt":           {2, "data: DATA\nagents: {demo: {}}\nauth: {jwt: {issuer: 'https://id.example.org'}}", "auth.mode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command(t, "", "config", "check", "--config", write(c.text))
			r.want(t, c.status, c.want)
			if right := "The configuration is right: the gateway listens on 127.0.0.1:8787, with demo, echo (default demo) and the data in " + data + ".\n"; c.status == 0 && r.out != right {
				t.Errorf("%q, want %q", r.out, right)
			}
			if _, err := os.Stat(data); err == nil {
				t.Error("the check has made the data directory")
			}
		})
	}
	command(t, "", "config", "check", "--config", "/no/such/file").want(t, exitUsage, "there is no such file")
}
