package web

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// sources are the page's own files of code, by their names below src.
func sources(t *testing.T) map[string]string {
	t.Helper()
	src, all := os.DirFS("src"), map[string]string{}
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(path.Ext(name), ".ts") {
			return err
		}
		data, err := fs.ReadFile(src, name)
		all[name] = string(data)
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	return all
}

// The routes of the chat give streams and histories of several forms. The transport of the npm package asks for one, and no code goes around it.
func TestThePageReadsChatsByOneTransport(t *testing.T) {
	t.Parallel()
	transports := 0
	for name, source := range sources(t) {
		for line := range strings.Lines(source) {
			if regexp.MustCompile("/api/chat[`'?]|/messages").MatchString(line) {
				t.Errorf("%s reads a chat by itself: %s", name, line)
			}
			if strings.Contains(line, "new TributaryTransport") {
				if transports++; !strings.Contains(line, "client: '7', fetch: ask") {
					t.Errorf("%s has a transport with another form, or another fetch: %s", name, line)
				}
			}
		}
	}
	if transports != 1 {
		t.Errorf("the page has %d transports", transports)
	}
}

// The gateway pushes all that the page shows. The one interval counts the seconds of a turn.
func TestThePagePollsNothing(t *testing.T) {
	t.Parallel()
	for name, source := range sources(t) {
		if strings.Contains(source, "setInterval") && name != "parts/clock.ts" {
			t.Errorf("%s has an interval", name)
		}
	}
}

// The page in the widget's frame has another fetch, so no code of the page may go around it.
func TestEveryRequestOfThePageGoesByOneFetch(t *testing.T) {
	t.Parallel()
	direct := regexp.MustCompile(`\bfetch\(|XMLHttpRequest|sendBeacon|new WebSocket`)
	for name, source := range sources(t) {
		if direct.MatchString(source) && name != "api/signin.ts" && name != "embed/token.ts" {
			t.Errorf("%s sends a request by itself: use ask of api/signin.ts", name)
		}
	}
}
