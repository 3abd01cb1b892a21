package cli

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestServe(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, data)
	if len(s.token) < 32 || !strings.HasPrefix(s.url, "http://127.0.0.1:") {
		t.Fatalf("ready line %q", s.url)
	}
	if strings.Contains(s.url, "token") { // it is no terminal: a log would keep it
		t.Errorf("the token is printed: %s", s.url)
	}
	shown := command(t, "", "token", "--data", data)
	shown.want(t, exitOK, "")
	if shown.out != s.token+"\n" {
		t.Errorf("tributary token prints %q", shown.out)
	}
	command(t, "", "token", "--data", t.TempDir()).want(t, exitFailed, "start the gateway once with `tributary serve`")
	if info, err := os.Stat(filepath.Join(data, "token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v, %v", info, err)
	}

	res, err := http.Get(s.base + "/api/sessions")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", res.Status)
	}
	once := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if res, err = once.Get(s.base + "/?token=" + s.token); err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 {
		t.Errorf("the ready line's URL: %s, %d cookies", res.Status, len(res.Cookies()))
	}
	for _, path := range []string{"/", "/healthz", "/readyz"} {
		if res, err = http.Get(s.base + path); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, res.Status)
		}
	}

	status, stream := s.do("POST", "/api/chat", chat("s1", "hello"))
	if status != http.StatusOK || !strings.Contains(stream, "event: text-delta\ndata: ") || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("chat: %d\n%s", status, stream)
	}
	status, history := s.do("GET", "/api/sessions/s1/messages", "")
	if status != http.StatusOK || !strings.Contains(history, "I am the demo agent") {
		t.Errorf("history: %d %s", status, history)
	}

	// A second gateway on the same data directory says who is in the way.
	second := command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", data)
	second.want(t, exitFailed, "tributary: the data directory "+data+" is in use by process ")
	if strings.Count(second.errors, "\n") != 1 || second.out != "" {
		t.Errorf("more than a sentence: %s%s", second.out, second.errors)
	}
	if status := s.stop(); status != exitOK {
		t.Fatalf("exit status %d\n%s", status, s.errors)
	}

	// The conversation is still there, and the token is the same.
	again := startServer(t, data)
	if again.token != s.token {
		t.Error("another token after a restart")
	}
	if _, text := again.do("GET", "/api/sessions/s1/messages", ""); text != history {
		t.Errorf("history after a restart:\n%s\nbefore:\n%s", text, history)
	}
}

func TestServeConfigured(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", `
default_agent: quiet
log_level: error
auth: {mode: none}
stream: {event_lines: false}
agents:
  quiet: {adapter: demo, options: {pace: 0s}, policy: {rules: [{then: allow}]}}
`)
	s := startServer(t, t.TempDir(), "--config", conf)
	if s.token != "" {
		t.Errorf("a token in mode none: %s", s.url)
	}
	status, stream := s.do("POST", "/api/chat", chat("s1", "approve"))
	if status != http.StatusOK || strings.Contains(stream, "event:") || !strings.Contains(stream, `allowed `) {
		t.Errorf("%d %s", status, stream)
	}
	if s.stop(); s.errors.String() != "" {
		t.Errorf("logged: %s", s.errors)
	}
}

// TestDrain ends the gateway in the middle of a turn. The turn runs to its end, and no new
// turn begins.
func TestDrain(t *testing.T) {
	t.Parallel()
	conf := file(t, "tributary.yaml", "agents: {demo: {options: {pace: 3ms}}}")
	s := startServer(t, t.TempDir(), "--config", conf)
	res := s.request("POST", "/api/chat", chat("s1", "slow"))
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	await(t, lines, "text-delta")
	s.signals <- syscall.SIGTERM
	for { // until the signal has been taken
		status, text := s.do("POST", "/api/chat", chat("s2", "hello"))
		if status == http.StatusServiceUnavailable {
			if !strings.Contains(text, "shutting down") {
				t.Errorf("refused with %q", text)
			}
			break
		}
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
	}
	if status, _ := s.do("GET", "/readyz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("ready while it ends: %d", status)
	}
	rest, err := io.ReadAll(lines)
	if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") || strings.Contains(string(rest), `"abort"`) {
		t.Errorf("the turn was not finished: %v\n%s", err, rest)
	}
	if status := s.wait(); status != exitOK {
		t.Errorf("exit status %d\n%s", status, s.errors)
	}
}

// The operator says how long running turns may take to finish: less, or more than is standard.
func TestTheConfigurationSaysHowLongTurnsMayTakeToFinish(t *testing.T) {
	t.Parallel()
	for drain, says := range map[string]string{"50ms": `"seconds":0.05`, "30m": `"seconds":1800`} {
		t.Run(drain, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", "sessions: {drain: "+drain+"}\nagents: {demo: {options: {pace: 5ms}}}"))
			res := s.request("POST", "/api/chat", chat("s1", "slow"))
			defer res.Body.Close()
			lines := bufio.NewReader(res.Body)
			await(t, lines, "text-delta")
			s.signals <- syscall.SIGTERM
			rest, err := io.ReadAll(lines)
			if cut := strings.Contains(string(rest), `"abort"`); err != nil || cut != (drain == "50ms") {
				t.Errorf("the turn was cut: %v, %v\n%s", cut, err, rest)
			}
			if status := s.wait(); status != exitOK || !strings.Contains(s.errors.String(), says) {
				t.Errorf("exit status %d\n%s", status, s.errors)
			}
		})
	}
}

// TestSecondSignal needs a process: leftovers of the gateway must end with the process.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "serve", "--listen", "127.0.0.1:0", "--data", data)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var errs output
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no ready line: %v\n%s", err, &errs)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	minted, err := os.ReadFile(filepath.Join(data, tokenFile))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, errors: &errs, base: "http://" + u.Host, token: strings.TrimSpace(string(minted))}
	res := s.request("POST", "/api/chat", chat("s1", "slow"))
	defer res.Body.Close()
	await(t, bufio.NewReader(res.Body), "text-delta")
	for _, sign := range []string{"stopping:", "ended at once, by a second signal"} {
		for range 2 { // as a supervisor does that signals a process and its group: one wish
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		for deadline := time.Now().Add(patience); !strings.Contains(errs.String(), sign) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(2 * sameSignal)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("ended with %v, want exit status %d\n%s", err, exitFailed, &errs)
	}
}

func await(t *testing.T, r *bufio.Reader, word string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended before %s: %v", word, err)
		}
		if strings.Contains(line, word) {
			return
		}
	}
}

func TestServeFaults(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() }) // after the subtests
	plain := file(t, "plain", "")
	conf := func(text string) string { return file(t, "tributary.yaml", text) }
	badToken := t.TempDir()
	if err := os.WriteFile(filepath.Join(badToken, "token"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status int
		says   string
		args   []string
	}{
		"port in use":         {exitFailed, "is in use by another program: end that one, or choose another with --listen", []string{"--listen", taken.Addr().String()}},
		"foreign address":     {exitFailed, "this machine has no address 192.0.2.1:80", []string{"--listen", "192.0.2.1:80"}},
		"data is a file":      {exitFailed, "the data directory " + plain + " cannot be written: correct its permissions, or choose another with --data: not a directory", []string{"--data", plain}},
		"empty token":         {exitUsage, "is empty; remove it and a new one is made", []string{"--data", badToken}},
		"wrong listen":        {exitUsage, `--listen is "8787": write host:port, such as 127.0.0.1:8787`, []string{"--listen", "8787"}},
		"wrong auth":          {exitUsage, "--auth oauth is unknown: use token, jwt or none", []string{"--auth", "oauth"}},
		"wrong level":         {exitUsage, "--log-level loud is no level: use debug, info, warn or error", []string{"--log-level", "loud"}},
		"wrong agent":         {exitUsage, `there is no agent "gpt": there are claude`, []string{"--agent", "gpt"}},
		"wrong cwd":           {exitUsage, "--cwd: " + plain + " is not a directory: name one that exists", []string{"--cwd", plain}},
		"unknown flag":        {exitUsage, "unknown flag --port", []string{"--port", "1"}},
		"open to all":         {exitUsage, "access mode none needs a loopback listen address", []string{"--auth", "none", "--listen", "0.0.0.0:0"}},
		"no config":           {exitUsage, "there is no such file: name one that exists", []string{"--config", plain + ".yaml"}},
		"corrupt config":      {exitUsage, "tributary.yaml:1: the YAML cannot be read: ", []string{"--config", conf("listen: [")}},
		"unknown adapter":     {exitUsage, `tributary.yaml:2: agents.x.adapter is "gpt": write one of acp, gemini`, []string{"--config", conf("agents:\n  x: {adapter: gpt}")}},
		"no adapter":          {exitUsage, "tributary.yaml:2: agents.x has no adapter: write one of acp, gemini", []string{"--config", conf("agents:\n  x: {model: m}")}},
		"useless key":         {exitUsage, "tributary.yaml:3: agents.demo.model means nothing to the adapter demo: remove it", []string{"--config", conf("agents:\n  demo:\n    model: m")}},
		"wrong agent cwd":     {exitUsage, "agents.demo.cwd: /no/such/dir is not a directory", []string{"--config", conf("agents: {demo: {cwd: /no/such/dir}}")}},
		"wrong default agent": {exitUsage, `tributary.yaml:1: default_agent is "x", which is no agent: there are claude`, []string{"--config", conf("default_agent: x")}},
		"unset token":         {exitUsage, `token "ci": the environment variable TRIBUTARY_TEST_UNSET is not set`, []string{"--config", conf("auth: {tokens: [{name: ci, role: viewer, token_env: TRIBUTARY_TEST_UNSET}]}")}},
		"no keys":             {exitUsage, "access mode jwt has no keys", []string{"--auth", "jwt"}},
		"jwt without a use":   {exitUsage, "tributary.yaml:1: auth.jwt means something in mode jwt only: set auth.mode to jwt, or remove it", []string{"--config", conf("auth: {jwt: {key_file: k}}")}},
		"no agent to judge":   {exitUsage, `tributary.yaml:1: auth.pass_through is "ops", which is no agent: there are demo, echo, runner`, []string{"--config", conf("auth: {pass_through: ops}")}},
		"agent cannot judge":  {exitUsage, `tributary.yaml:1: auth.pass_through is "demo", and that agent has no server that could judge tokens`, []string{"--config", conf("auth: {pass_through: demo}")}},
		"no server":           {exitUsage, "tributary.yaml:2: agents.far has no url: write the base address of its server", []string{"--config", conf("agents:\n  far: {adapter: agentops}")}},
		"no address":          {exitUsage, `tributary.yaml:2: agents.far.url is "agents.example.com": write the address of a server, which begins with http:// or https://`, []string{"--config", conf("agents:\n  far: {adapter: agentops, url: agents.example.com}")}},
		"lookup, no token":    {exitUsage, "tributary.yaml:2: agents.far.options.lookup means something only with a service token", []string{"--config", conf("agents:\n  far: {adapter: agentops, url: \"http://127.0.0.1:1\", options: {lookup: email}}")}},
		"unset server token":  {exitUsage, "tributary.yaml:2: agents.far.token_env names TRIBUTARY_TEST_UNSET, and there is no such environment variable", []string{"--config", conf("agents:\n  far: {adapter: agentops, url: \"http://127.0.0.1:1\", token_env: TRIBUTARY_TEST_UNSET}")}},
		"wrong origin":        {exitUsage, "allow_origins", []string{"--config", conf("auth: {allow_origins: [example.org/x]}")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := []string{"serve", "--log-level", "error"}
			for flag, value := range map[string]string{"--listen": "127.0.0.1:0", "--data": t.TempDir()} {
				if !strings.Contains(strings.Join(c.args, " "), flag) {
					args = append(args, flag, value)
				}
			}
			r := command(t, "", append(args, c.args...)...)
			r.want(t, c.status, c.says)
			if strings.Count(r.errors, "\n") != 1 || r.out != "" {
				t.Errorf("more than a sentence: %s%s", r.out, r.errors)
			}
		})
	}
}

func TestDataDir(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	for xdg, want := range map[string]string{"": "/home/ann/.local/share/tributary", "relative": "/home/ann/.local/share/tributary", "/xdg": "/xdg/tributary"} {
		t.Setenv("XDG_DATA_HOME", xdg)
		if got, err := dataDir(""); err != nil || got != want {
			t.Errorf("%q: %s, %v", xdg, got, err)
		}
	}
	if got, err := dataDir("/named"); err != nil || got != "/named" {
		t.Errorf("%s, %v", got, err)
	}
	t.Setenv("XDG_DATA_HOME", "")
	t.Setenv("HOME", "")
	if _, err := dataDir(""); err == nil || !strings.Contains(err.Error(), "name one with --data") {
		t.Errorf("without a home: %v", err)
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	at := &net.TCPAddr{IP: net.IPv4zero, Port: 42}
	for listen, want := range map[string]string{
		"127.0.0.1:0": "http://127.0.0.1:42", ":0": "http://127.0.0.1:42", "0.0.0.0:0": "http://127.0.0.1:42", "[::]:0": "http://127.0.0.1:42",
		"[::1]:0": "http://[::1]:42", "localhost:0": "http://localhost:42", "192.168.1.2:42": "http://192.168.1.2:42",
	} {
		if got := baseURL("http", listen, at); got != want {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

func TestTheURLOfAnAppHasTheNameOfTheApp(t *testing.T) {
	t.Parallel()
	for app, want := range map[string]string{
		"http://localhost:3000": "http://localhost:42", "http://localhost": "http://localhost:42",
		"http://chat.localhost": "http://[::1]:42",
		"http://127.0.0.1:3000": "http://[::1]:42", "http://app.example.com": "http://[::1]:42",
	} {
		if got := appURL("http://[::1]:42", app); got != want {
			t.Errorf("%s: %s, want %s", app, got, want)
		}
	}
}

func TestServeOnPostgreSQL(t *testing.T) {
	t.Parallel()
	url, data := postgres.Database(t), t.TempDir()
	s := startServer(t, data, "--db", url)
	if status, stream := s.do("POST", "/api/chat", chat("s1", "hello")); status != http.StatusOK || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("%d %s", status, stream)
	}
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--db", url, "--data"}
	command(t, "", append(serve, data)...).want(t, exitFailed, "the data directory "+data+" is in use by process")
	if status := s.stop(); status != exitOK {
		t.Errorf("exit status %d\n%s", status, s.errors)
	}
	if _, err := os.Stat(filepath.Join(data, "tributary.db")); !os.IsNotExist(err) {
		t.Errorf("the log is in the data directory too: %v", err)
	}
	startServer(t, data, "--db", url).do("GET", "/api/sessions/s1", "")
}

func TestServeRefusesADatabaseInOneSentence(t *testing.T) {
	t.Parallel()
	good := postgres.Database(t)
	postgres.Do(t, "postgres", `DO $$ BEGIN CREATE ROLE guest LOGIN PASSWORD 'another secret'; EXCEPTION WHEN duplicate_object THEN NULL; END $$`)
	at := good[strings.Index(good, "@"):]
	for name, c := range map[string]struct {
		status int
		args   []string
		says   string
	}{
		"wrong password": {exitFailed, []string{"--db", "postgres://guest:secret" + at}, `refuses the user "guest": correct the user or the password in --db`},
		"no database":    {exitFailed, []string{"--db", good + "_not"}, "has no such database: make it with `createdb`, or correct --db"},
		"no URL":         {exitUsage, []string{"--db", "host:secret"}, "--db is no URL of a database: write postgres://user@host:5432/database"},
		"a broken URL":   {exitFailed, []string{"--db", "postgres://u:secret@[::1/x"}, "the URL of the database (--db) cannot be read"},
		"nobody listens": {exitFailed, []string{"--db", "postgres://u:secret@127.0.0.1:1/x"}, "the database x on 127.0.0.1:1 cannot be reached: start its server, or correct --db"},
		"wrong fsync":    {exitUsage, []string{"--fsync", "never"}, `--fsync "never" is unknown: write on or off`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := command(t, "", append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, c.args...)...)
			got.want(t, c.status, c.says)
			if strings.Contains(got.out+got.errors, "secret") {
				t.Errorf("the password is printed: %s %s", got.out, got.errors)
			}
			if strings.Count(strings.TrimSpace(got.errors), "\n") != 0 {
				t.Errorf("more than one line: %s", got.errors)
			}
		})
	}
}
