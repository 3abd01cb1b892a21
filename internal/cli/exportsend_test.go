package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/export/otlp/otlptest"
)

func TestExportSends(t *testing.T) {
	t.Setenv("SEND_KEY", " Basic c2VjcmV0LWtleQ==\n")
	data := t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))
	for _, id := range []string{"one", "two"} {
		if status, body := s.do("POST", "/api/chat", chat(id, "tool")); status != 200 {
			t.Fatal(body)
		}
	}
	if status, body := s.do("POST", "/api/chat", `{"id":"one","messages":[{"id":"m2","role":"user","parts":[{"type":"text","text":"hello"}]}],"trigger":"submit-message"}`); status != 200 {
		t.Fatal(body)
	}
	s.do("POST", "/api/sessions", `{"id":"none"}`)
	var header http.Header
	var bad func(otlptest.Span) string
	r := &otlptest.Receiver{
		Answer: func(n int, w http.ResponseWriter, req *http.Request) bool {
			header = req.Header
			if n == 1 {
				w.Header().Set("Retry-After", "0.01")
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return n == 1
		},
		Refuse: func(s otlptest.Span) string {
			if bad != nil {
				return bad(s)
			}
			return ""
		},
	}
	receiver := httptest.NewServer(r)
	t.Cleanup(receiver.Close)
	export := func(line string) result {
		return command(t, "", s.at(data, append([]string{"export"}, strings.Fields(line)...)...)...)
	}

	got := export("--all --format otlp --to " + receiver.URL + " --header Authorization=env:SEND_KEY --header x-langfuse-ingestion-version=4 --header X-Tags=a,b=c")
	spans := r.Spans()
	got.want(t, exitOK, "tributary: the session none is left out: no turn of it has ended\n")
	for _, line := range []string{"tributary: one: 2 turns, ", "tributary: two: 1 turn, ", "(status 429): trying again in 10ms\n"} {
		if !strings.Contains(got.errors, line) {
			t.Errorf("no %q in %s", line, got.errors)
		}
	}
	if want := "2 sessions, 3 turns, " + eval.Counted(len(spans), "span") + " sent, 0 dropped\n"; got.out != want || len(spans) < 6 || r.Faults() != nil {
		t.Errorf("%q, want %q; %v", got.out, want, r.Faults())
	}
	if header.Get("Authorization") != "Basic c2VjcmV0LWtleQ==" || header.Get("X-Langfuse-Ingestion-Version") != "4" || header.Get("X-Tags") != "a,b=c" || header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%v", header)
	}

	// A second time changes nothing, and without content there is none.
	export("one two --format otlp-protobuf --to "+receiver.URL+"/v1/traces").want(t, exitOK, "two: 1 turn")
	if len(r.Spans()) != len(spans) || r.Faults() != nil {
		t.Errorf("%d rows, then %d: %v", len(spans), len(r.Spans()), r.Faults())
	}
	export("one two --format otlp --content none --to "+receiver.URL).want(t, exitOK, "two: 1 turn")
	for _, one := range r.Spans() {
		if one.Attrs["input.value"] != nil || one.Attrs["gen_ai.output.messages"] != nil && strings.Contains(one.Attrs["gen_ai.output.messages"].(string), "Hello") || one.Attrs["gen_ai.tool.call.arguments"] != nil {
			t.Errorf("%v", one.Attrs)
		}
	}

	bad = func(s otlptest.Span) string {
		if strings.HasPrefix(s.Name, "execute_tool") {
			return "no tools here"
		}
		return ""
	}
	got = export("two --format otlp --to " + receiver.URL)
	got.want(t, exitFailed, "tributary: the receiver did not take 1 span; of the first it said: status 400: The entire export was rejected")
	if !strings.HasPrefix(got.out, "1 session, 1 turn, ") || !strings.HasSuffix(got.out, " sent, 1 dropped\n") {
		t.Errorf("%q", got.out)
	}
	got = export("two one --format otlp --to " + receiver.URL + "/elsewhere/traces")
	got.want(t, exitFailed, "nothing takes spans (status 404: there is nothing here): look up the receiver's address")
	if got.out != "0 sessions, 0 turns, 0 spans sent, 0 dropped\n" || strings.Count(got.errors, "\n") != 1 {
		t.Errorf("%q %q", got.out, got.errors)
	}
	export("none --format otlp --to "+receiver.URL).want(t, exitFailed, "there is nothing to export")

	for _, c := range []struct{ line, want string }{
		{"one --to " + receiver.URL, "--to sends spans, and no trace: write --format otlp"},
		{"one --format otlp -o x --to " + receiver.URL, "--output writes them into a file: use one of them"},
		{"one --format otlp --header a=b", "are for a receiver: name it with --to"},
		{"one --format otlp --to http://collector:4318", "http://collector:4318 is on another machine"},
		{"one --format otlp --to collector:4318", "is no address of a receiver"},
		{"one --format otlp --header Key --to " + receiver.URL, "--header Key is not NAME=VALUE: write it so, or NAME=env:VARIABLE for a secret"},
		{"one --format otlp --header Key:secret=x --to " + receiver.URL, "--header Key is not NAME=VALUE"},
		{"one --format otlp --header Key=env:NO_SUCH_KEY --to " + receiver.URL, "--header Key names NO_SUCH_KEY, and there is no such environment variable: set it"},
		{"one --format otlp --header Host=x --to " + receiver.URL, "the program sets the header Host itself"},
	} {
		export(c.line).want(t, exitUsage, c.want)
	}
}

// A signal ends the wait for a receiver.
func TestSignalEndsAnExport(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s := startServer(t, data, "--config", file(t, "t.yaml", quickDemo))
	if status, body := s.do("POST", "/api/chat", chat("one", "hello")); status != 200 {
		t.Fatal(body)
	}
	signals := make(chan os.Signal, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "300")
		w.WriteHeader(http.StatusServiceUnavailable)
		signals <- syscall.SIGINT
	}))
	t.Cleanup(receiver.Close)
	var out, errs output
	p := &program{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, signals: signals}
	status := p.main(t.Context(), s.at(data, "export", "one", "--format", "otlp", "--to", receiver.URL))
	if status != exitCanceled || !strings.Contains(errs.String(), "send them again, which does no harm") {
		t.Errorf("%d %s", status, errs.String())
	}
}
