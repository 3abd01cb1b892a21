package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestExport(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))
	say := func(id, text string) {
		if status, body := s.do("POST", "/api/chat", chat(id, text)); status != 200 {
			t.Fatal(body)
		}
	}
	say("one", "tool")
	command(t, "approve\n", s.at(data, "chat", "--agent", "demo")...).want(t, exitOK, "denied")
	say("Two", "hello")
	s.do("POST", "/api/sessions", `{"id":"none"}`)
	picture := base64.StdEncoding.EncodeToString([]byte("a picture"))
	s.do("POST", "/api/chat", fmt.Sprintf(`{"id":"three","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"look"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,%s"}]}],"trigger":"submit-message"}`, picture))
	export := func(args ...string) result {
		return command(t, "", s.at(data, append([]string{"export"}, args...)...)...)
	}

	r := export("one")
	r.want(t, exitOK, "")
	if _, trace := s.do("GET", "/api/sessions/one/trace", ""); r.out != trace {
		t.Errorf("the trace is another:\n%s", r.out)
	}
	for _, format := range []string{"atif", "otlp", "markdown", "json"} {
		r := export("one", "--format", format)
		r.want(t, exitOK, "")
		_, body := s.do("GET", "/api/sessions/one/export?format="+format, "")
		if r.out != body || r.out == "" || format == "otlp" && !strings.Contains(body, `"version":"`+version()+`"`) {
			t.Errorf("%s by the command and by the route:\n%s\n%s", format, r.out, body)
		}
	}
	if r := export("one", "--format", "atif", "--content", "none"); strings.Contains(r.out, "Hello from the demo") || !strings.Contains(r.out, `"function_name"`) {
		t.Errorf("without content:\n%s", r.out)
	}

	r = export("--all", "--format", "atif", "-o", dir)
	r.want(t, exitOK, "tributary: the session none is left out: no turn of it has ended\n")
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 5 {
		t.Errorf("%q", files)
	}
	trajectory, err := os.ReadFile(filepath.Join(dir, "three.atif.json"))
	images, _ := filepath.Glob(filepath.Join(dir, "images", "*.png"))
	if err != nil || len(images) != 1 || !strings.Contains(string(trajectory), `"path":"images/`+filepath.Base(images[0])+`"`) {
		t.Errorf("%v %q %s", err, images, trajectory)
	}
	if kept, err := os.ReadFile(images[0]); err != nil || string(kept) != "a picture" {
		t.Errorf("%v %q", err, kept)
	}

	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // the index of words comes behind
		if _, found := s.do("GET", "/api/sessions?q=approve", ""); strings.Contains(found, `"id":`) {
			break
		}
	}
	out := filepath.Join(dir, "all.jsonl")
	export("--query", "approve", "--format", "otlp", "-o", out).want(t, exitOK, "")
	spans, err := os.ReadFile(out)
	if err != nil || strings.Count(string(spans), "\n") != 1 || !json.Valid(spans) || !strings.Contains(string(spans), `"permission"`) {
		t.Errorf("%v %s", err, spans)
	}

	missing := filepath.Join(dir, "missing.json")
	export("none", "--format", "atif", "-o", missing).want(t, exitFailed, "there is nothing to export: no turn of the session has ended")
	for _, format := range []string{"atif", "otlp"} {
		export("one", "--format", format, "--turn", "nope").want(t, exitFailed, `there is nothing to export: the session has no turn "nope" that has ended`)
		export("one", "Two", "--format", format, "--turn", "nope", "-o", dir).want(t, exitFailed, `the session Two is left out: it has no such turn that has ended`)
	}
	export("none", "--format", "otlp", "-o", missing).want(t, exitFailed, "there is nothing to export")
	export("nobody", "--format", "atif", "-o", missing).want(t, exitFailed, "there is no such session")
	if _, err := os.Stat(missing); err == nil {
		t.Error("a file of nothing")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".export-*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
	for _, c := range []struct{ args, want string }{
		{"", "write its id, or --all"},
		{"one --all", "use one of them"},
		{"one Two --format atif", "name a directory with -o DIR"},
		{"one --format otlp --content words", "use all, none, or some of"},
		{"one --format otlp --content=", "--content: content \"\" is no class"},
		{"one --content none", "--content does nothing for --format trace: remove it, or write --format atif or otlp or otlp-protobuf"},
		{"one --format markdown --content none", "--content does nothing for --format markdown"},
		{"one --turn nope", "--turn does nothing for --format trace"},
		{"one --format json --no-denied", "--no-denied does nothing"},
		{"one --no-subagents", "--no-subagents does nothing"},
		{"one --format otlp --atif 1.8", "--atif does nothing for --format otlp: remove it, or write --format atif"},
		{"one --format atif --atif 1.2", "ATIF 1.2 cannot be written: use 1.7 or 1.8"},
		{"one --format atif --turn=", "--turn is empty"},
	} {
		export(strings.Fields(c.args)...).want(t, exitUsage, c.want)
	}
	export("--query", "nowhere").want(t, exitFailed, "there is no such session")
}

// Two ids that differ only in what a file's name cannot tell apart get two files.
func TestFilesOfSessions(t *testing.T) {
	t.Parallel()
	if fileOf("one") != "one" || fileOf("One") == fileOf("one") || fileOf("a/b") == fileOf("a-b") || strings.HasPrefix(fileOf(".."), ".") || strings.ContainsAny(fileOf("../x"), "/") {
		t.Errorf("%s %s %s %s", fileOf("One"), fileOf("a/b"), fileOf(".."), fileOf("../x"))
	}
}

func TestConvertForReaders(t *testing.T) {
	t.Parallel()
	name := filepath.Join(recordings, "tool.jsonl")
	r := command(t, "", "convert", "--from", "claude", "--to", "atif", name)
	r.want(t, exitOK, "")
	if !json.Valid([]byte(r.out)) || !strings.Contains(r.out, `"schema_version":"ATIF-v1.7"`) || !strings.Contains(r.out, `"agent":{"name":"claude"`) {
		t.Errorf("%s", r.out)
	}
	command(t, "", "convert", "--from", "claude", "--to", "otlp", name).want(t, exitFailed, "--at")
	in := command(t, r.out, "import", "-")
	in.want(t, exitOK, "")
	if all := records(t, in.out); len(all) < 10 || !strings.Contains(in.out, `"name":"imported:claude"`) {
		t.Errorf("%s", in.out)
	}
	command(t, "{}", "import", "-").want(t, exitFailed, "this is no trajectory in ATIF 1")
	command(t, "", "import", "nowhere.json").want(t, exitFailed, "the trajectory cannot be read")
}

// The total of a conversation that began before the recording says nothing of what the recording cost.
func TestConvertOfALoadedConversation(t *testing.T) {
	t.Parallel()
	r := command(t, "", "convert", "--from", "acp", "--to", "atif", filepath.Join(recordings, "..", "acp", "claude-load-2.jsonl"))
	r.want(t, exitOK, "")
	var f struct {
		Final map[string]float64 `json:"final_metrics"`
	}
	if err := json.Unmarshal([]byte(r.out), &f); err != nil || f.Final["total_cost_usd"] > 0.0012 || f.Final["total_prompt_tokens"] != 100 {
		t.Errorf("%v %+v", err, f)
	}
}

// A gateway of another version says what it has: the reason is told.
func TestExportFromAStrangeGateway(t *testing.T) {
	t.Parallel()
	record := ""
	g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/trace") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, record)
	}))
	t.Cleanup(g.Close)
	at := []string{"--url", g.URL, "--token-file", file(t, "token", "x")}
	for want, text := range map[string]string{
		"has a record that cannot be read: trace record x has version 2": `{"v":2,"id":"x","type":"error"}` + "\n",
		"its by is a number, and a text belongs there":                   `{"v":1,"session":"s","turn":"t","seq":1,"id":"x","ts":"2026-01-01T00:00:00Z","type":"prompt","parent_id":null,"actor":"user","payload":{"by":1}}` + "\n",
		"broke the answer off: try again":                                `{"v":1,`,
	} {
		record = text
		command(t, "", append([]string{"export", "x"}, at...)...).want(t, exitFailed, want)
	}
	command(t, "", append([]string{"export", "x", "--format", "atif"}, at...)...).want(t, exitFailed, "answers 404 Not Found without a reason: is a gateway of this version there?")
}
