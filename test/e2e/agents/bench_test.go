//go:build linux

package agents_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/trace"
)

// patience is how long anything may take: on a machine with much else to do the start of an agent takes most of a minute.
const patience = 3 * time.Minute

// bench is a gateway with one real agent, and one session.
type bench struct {
	*testing.T

	agent   realagent.Agent
	data    string
	config  string
	server  *launch.Server
	session string
	token   string // of the person who uses it; "" is the admin's
	// secrets are variables of the gateway's own environment.
	secrets []string
	// parts are further parts of each prompt.
	parts []any
	// seen are the durable records so far.
	seen []trace.Record
}

func newBench(t *testing.T, k realagent.Kind) *bench {
	t.Helper()
	b := &bench{T: t, agent: realagent.Get(t, k.Name), data: t.TempDir(), session: "matrix"}
	settings := map[string]any{"adapter": k.Name}
	if b.agent.Path != "" {
		settings["command"], settings["env"] = b.agent.Path, b.agent.Settings
		settings["allow_bypass"] = k.Name == "pi" // it asks nobody
	}
	if k.Options != nil {
		maps.Copy(settings, k.Options(b.agent.Dirs))
	}
	form := box.Form(os.Getenv(boxForm))
	if form == box.Strict && slices.Contains([]string{"codex", "codex-acp", "kilo"}, k.Name) {
		form = box.Guard // their own sandbox fails in strict: docs/deploy/box.md
	}
	if form != "" && k.Package.Name != "" {
		if err := box.Available(form); err != nil {
			t.Skip(err)
		}
		settings["box"] = map[string]any{"form": form, "required": form != box.Off}
	}
	raw, err := json.Marshal(map[string]any{"agents": map[string]any{k.Name: settings}, "default_agent": k.Name})
	if err != nil {
		t.Fatal(err)
	}
	b.config = filepath.Join(t.TempDir(), "tributary.yaml")
	if err := os.WriteFile(b.config, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// start starts the gateway on the bench's data.
func (b *bench) start() {
	b.Helper()
	cmd := exec.Command(os.Getenv(gateway), "serve", "--listen", "127.0.0.1:0", "--data", b.data, "--config", b.config, "--cwd", b.agent.Dir)
	cmd.Env = append(realagent.Pairs(realagent.ClosedEnv(b.agent.Home, b.agent.Tmp)), b.secrets...)
	s, err := launch.Start(b.Context(), cmd)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Kill)
	b.server = s
}

func (b *bench) request(ctx context.Context, method, path string, body any, accept string) (*http.Response, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, b.server.Base()+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	token := b.token
	if token == "" {
		token = b.server.Token() // which may make a new one
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	return http.DefaultClient.Do(req)
}

// call makes a request and wants it to succeed.
func (b *bench) call(method, path string, body any) string {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	res, err := b.request(ctx, method, path, body, "*/*")
	if err != nil {
		b.Fatalf("%s %s: %v\n%s", method, path, err, b.server.Said())
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		b.Fatalf("%s %s: %s %v: %s\n%s", method, path, res.Status, err, text, b.server.Said())
	}
	return string(text)
}

// answer answers a permission request. A request may be withdrawn before that if its turn
// may have ended.
func (b *bench) answer(p trace.PermissionRequest, kind trace.OptionKind, withdrawn bool) {
	b.Helper()
	res, err := b.request(b.Context(), http.MethodPost, b.path("/permissions/"+p.RequestID), choice(p, kind), "*/*")
	if err != nil {
		b.Fatalf("the answer to %s: %v\n%s", p.Title, err, b.server.Said())
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 && (!withdrawn || res.StatusCode != http.StatusConflict) {
		text, _ := io.ReadAll(res.Body)
		b.Fatalf("the answer to %s: %s: %s\n%s", p.Title, res.Status, text, b.server.Said())
	}
}

// prompt sends a prompt as a stock client does and returns the id of its message; the
// tests read the answer from the records.
func (b *bench) prompt(text string) (id string) {
	b.Helper()
	id = fmt.Sprintf("u%d", time.Now().UnixNano())
	ctx, cancel := context.WithCancel(b.Context())
	res, err := b.request(ctx, http.MethodPost, "/api/chat?agent="+b.agent.Name, map[string]any{
		"id": b.session, "trigger": "submit-message",
		"messages": []any{map[string]any{
			"id": id, "role": "user", "parts": append([]any{map[string]any{"type": "text", "text": text}}, b.parts...),
		}},
	}, "text/event-stream")
	if err != nil {
		cancel()
		b.Fatalf("the prompt %q: %v\n%s", text, err, b.server.Said())
	}
	if res.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		cancel()
		b.Fatalf("the prompt %q: %s: %s\n%s", text, res.Status, body, b.server.Said())
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}()
	b.Cleanup(func() { cancel(); <-done })
	return id
}

func (b *bench) path(end string) string { return "/api/sessions/" + b.session + end }

func (b *bench) mark() uint64 {
	if len(b.seen) == 0 {
		return 0
	}
	return b.seen[len(b.seen)-1].Seq
}

// turn sends a prompt and reads its turn. watch is called with each record, also the ephemeral ones,
// until the turn has ended. An agent may run a turn of its own in between, for example when a
// sub-agent in the background ends. Such a turn reaches watch, but is not in the result.
func (b *bench) turn(prompt string, limit time.Duration, watch func(trace.Payload)) (turn []trace.Record, err error) {
	b.Helper()
	after := b.mark()
	prompted, current := b.prompt(prompt), ""
	ctx, cancel := context.WithTimeout(b.Context(), limit)
	defer cancel()
	res, err := b.request(ctx, http.MethodGet, b.path("/trace?deltas=1&after="+strconv.FormatUint(after, 10)), nil, "text/event-stream")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return turn, fmt.Errorf("the turn has not ended: %w", err)
		}
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		var r trace.Record
		if err := json.Unmarshal([]byte(data), &r); err != nil {
			return turn, fmt.Errorf("the record %q: %w", data, err)
		}
		if r.Seq <= after {
			continue
		}
		if watch != nil {
			watch(r.Payload)
		}
		if !trace.Ephemeral(r.Payload) {
			b.seen = append(b.seen, r)
		}
		if p, ok := r.Payload.(trace.Prompt); ok && p.Message.ID == prompted {
			current = r.Turn
		}
		if current == "" || r.Turn != current {
			continue
		}
		if !trace.Ephemeral(r.Payload) {
			turn = append(turn, r)
		}
		if _, end := r.Payload.(trace.Stop); end {
			return turn, nil
		}
	}
}

func (b *bench) stop() {
	b.Helper()
	b.call(http.MethodPost, "/api/chat/"+b.session+"/stop", map[string]any{})
}

// restart ends the gateway in order and starts it again with the same data.
func (b *bench) restart() {
	b.Helper()
	b.end()
	b.start()
}

func (b *bench) end() {
	b.Helper()
	if err := b.server.End(); err != nil {
		b.Error(err)
	}
}

// files are the files of the workspace.
func (b *bench) files() []string {
	b.Helper()
	var names []string
	err := filepath.WalkDir(b.agent.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(b.agent.Dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		b.Error(err)
	}
	slices.Sort(names)
	return names
}

// processes are the ids and the lines of the processes that have the agent's home in their environment.
func (b *bench) processes() []string {
	var found []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(env, []byte("HOME="+b.agent.Home+"\x00")) {
			continue
		}
		if line, err := os.ReadFile(dir + "/cmdline"); err == nil && len(line) > 0 {
			found = append(found, filepath.Base(dir)+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// strays is how often anything in this network wanted to reach what is not on
// loopback.
func strays() int {
	text, err := os.ReadFile("/proc/net/snmp")
	if err != nil || os.Getenv(network) == "" {
		return 0
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "Ip:" {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		n, _ := strconv.Atoi(fields[slices.Index(names, "OutNoRoutes")])
		return n
	}
	return 0
}
