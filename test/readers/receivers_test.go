package readers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/otlp/send"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// counts is what a receiver has, or was sent.
type counts struct {
	Spans, Input, Output int64
}

// receiver is a program that takes spans.
type receiver struct {
	name    string
	command func(dir, port string) *exec.Cmd
	health  string
	header  http.Header
	read    func(t *testing.T, python, base string) counts
}

// Real receivers hold each span of all recordings once, also if all is sent twice, and the tokens
// that the agents have counted.
func TestReceiversHaveEachSpanAndEachToken(t *testing.T) {
	for _, r := range []receiver{
		{
			name: "phoenix",
			command: func(dir, port string) *exec.Cmd {
				c := exec.Command(filepath.Join(os.Getenv("TRIBUTARY_TEST_READERS"), "phoenix", "bin", "phoenix"), "serve")
				c.Env = append(os.Environ(), "PHOENIX_HOST=127.0.0.1", "PHOENIX_PORT="+port, "PHOENIX_GRPC_PORT="+freePort(), "PHOENIX_WORKING_DIR="+dir, "PHOENIX_TELEMETRY_ENABLED=false", "PHOENIX_ALLOW_EXTERNAL_RESOURCES=false")
				return c
			},
			health: "/healthz",
			read:   readPhoenix,
		},
		{
			name: "mlflow",
			command: func(dir, port string) *exec.Cmd {
				c := exec.Command(filepath.Join(os.Getenv("TRIBUTARY_TEST_READERS"), "mlflow", "bin", "mlflow"), "server", "--host", "127.0.0.1", "--port", port, "--workers", "1",
					"--backend-store-uri", "sqlite:///"+filepath.Join(dir, "mlflow.db"), "--default-artifact-root", filepath.Join(dir, "artifacts"))
				c.Env = append(os.Environ(), "MLFLOW_DISABLE_TELEMETRY=true", "DO_NOT_TRACK=true")
				return c
			},
			health: "/health",
			header: http.Header{"X-Mlflow-Experiment-Id": {"0"}},
			read:   readMLflow,
		},
	} {
		t.Run(r.name, func(t *testing.T) {
			python := reader(t, r.name)
			base := r.start(t)
			sender, err := send.New(send.Config{URL: base, Header: r.header})
			if err != nil {
				t.Fatal(err)
			}
			defer sender.Close()
			var want counts
			for range 2 {
				want = sendAll(t, sender)
			}
			got, patience := counts{}, time.Now().Add(3*time.Minute) // they store what they have taken later
			for got != want && time.Now().Before(patience) {
				time.Sleep(time.Second)
				got = r.read(t, python, base)
			}
			if got != want {
				t.Errorf("%s has %+v, and was sent %+v", r.name, got, want)
			}
			t.Logf("%+v", want)
		})
	}
}

// sendAll sends all recordings, each as a session of its own, and counts what is sent.
func sendAll(t *testing.T, to *send.Sender) (n counts) {
	t.Helper()
	for path, records := range exporttest.Recorded(t, "../../adapter") {
		for i := range records {
			records[i].Session = path
		}
		for requests, err := range otlp.Turns(now(records), otlp.Options{Filter: redact.Filter{Agent: trace.AgentInfo{Name: "recorded"}}}) {
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			for _, r := range requests {
				sent, err := to.Send(t.Context(), r)
				if err != nil || sent.Dropped > 0 {
					t.Fatalf("%s: %+v, %v", path, sent, err)
				}
				for _, s := range r.Spans {
					n.Spans++
					for _, a := range s.GetAttributes() {
						switch v := a.GetValue().GetIntValue(); a.GetKey() {
						case "gen_ai.usage.input_tokens":
							n.Input += v
						case "gen_ai.usage.output_tokens":
							n.Output += v
						}
					}
				}
			}
		}
	}
	return n
}

// start starts the program, and stops it at the end of the test.
func (r receiver) start(t *testing.T) (base string) {
	t.Helper()
	port := freePort()
	base = "http://127.0.0.1:" + port
	c := r.command(t.TempDir(), port)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
		_ = log.Close()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for {
		if _, err := get(ctx, base+r.health); err == nil {
			return base
		}
		if ctx.Err() != nil {
			out, _ := os.ReadFile(log.Name())
			t.Fatalf("%s does not answer: %s", r.name, out)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func freePort() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "0"
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return body, err
}

// readPhoenix reads the spans page by page.
func readPhoenix(t *testing.T, _, base string) (n counts) {
	t.Helper()
	for cursor := ""; ; {
		body, err := get(t.Context(), base+"/v1/projects/default/spans?limit=1000&cursor="+url.QueryEscape(cursor))
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Data []struct {
				Attributes map[string]any `json:"attributes"`
			} `json:"data"`
			Next *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Data {
			n.Spans++
			input, _ := s.Attributes["llm.token_count.prompt"].(float64)
			output, _ := s.Attributes["llm.token_count.completion"].(float64)
			n.Input, n.Output = n.Input+int64(input), n.Output+int64(output)
		}
		if page.Next == nil {
			return n
		}
		cursor = *page.Next
	}
}

// readMLflow reads by MLflow's own client.
func readMLflow(t *testing.T, python, base string) (n counts) {
	t.Helper()
	out := run(t, python, "read_mlflow.py", base)
	if err := json.Unmarshal(out, &n); err != nil {
		t.Fatal(fmt.Errorf("%w in %s", err, out))
	}
	return n
}
