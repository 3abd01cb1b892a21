package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheWidgetsPageIsForTheOriginsOfTheSetting(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tributary.yaml")
	if err := os.WriteFile(file, []byte("widget: {allow_origins: ['https://app.example.com']}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	embed := func(args ...string) (int, string) {
		t.Helper()
		s := startServer(t, t.TempDir(), args...)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/embed?origin=https://app.example.com", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Sec-Fetch-Site", "cross-site") // as a frame in another page asks
		req.Header.Set("Sec-Fetch-Dest", "iframe")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // nothing is read
		return res.StatusCode, res.Header.Get("Content-Security-Policy")
	}
	if status, policy := embed("--config", file); status != http.StatusOK || !strings.HasSuffix(policy, "frame-ancestors https://app.example.com") {
		t.Errorf("with the setting: %d %q", status, policy)
	}
	if status, policy := embed(); status != http.StatusNotFound || !strings.HasSuffix(policy, "frame-ancestors 'none'") {
		t.Errorf("without: %d %q", status, policy)
	}
}

// The script is for pages of every origin, also of those that may not call the gateway: with an
// integrity hash the browser sends an Origin.
func TestTheScriptOfTheWidgetIsForEveryOrigin(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir())
	for path, want := range map[string]int{"/widget.js": http.StatusOK, "/widget/0000000000000000/widget.js": http.StatusNotFound, "/": http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Origin", "https://app.example.com")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
	}
}

func TestTheWidgetCommandPrintsTheTag(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tributary.yaml")
	if err := os.WriteFile(file, []byte("public_url: https://agents.example.com\nwidget: {allow_origins: ['https://app.example.com']}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := command(t, "", "widget", "--config", file)
	r.want(t, exitOK, "For the pages of https://app.example.com.")
	if !strings.HasPrefix(r.out, `<script src="https://agents.example.com/widget/`) || !strings.Contains(r.out, ` integrity="sha384-`) {
		t.Errorf("it prints %q", r.out)
	}
	everywhere := filepath.Join(t.TempDir(), "tributary.yaml")
	if err := os.WriteFile(everywhere, []byte("listen: ':8787'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := command(t, "", "widget", "--config", everywhere); !strings.HasPrefix(r.out, `<script src="http://127.0.0.1:8787/widget/`) {
		t.Errorf("for every address it prints %q", r.out)
	}
	command(t, "", "widget", "--url", "https://a.example.com").want(t, exitOK, "no page may show the chat yet")
	command(t, "", "widget", "--url", "a.example.com").want(t, exitUsage, "write https://host")
	here := filepath.Join(t.TempDir(), "tributary.yaml")
	if err := os.WriteFile(here, []byte("widget: {allow_origins: ['https://app.example.com']}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, "", "serve", "--data", t.TempDir(), "--config", here, "--app", "http://localhost:5173").want(t, exitUsage, "leave app or widget.allow_origins out")
}
