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
	return codeIn(t, "src")
}

// codeIn are the files of code in a directory, by their names.
func codeIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	src, all := os.DirFS(dir), map[string]string{}
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

// timers are the timers of the page and of the npm package, by file: how many, and what for. None of them asks the gateway again and again.
var timers = map[string]struct {
	most int
	why  string
}{
	"web/api/found.ts":              {1, "a search waits until a person has typed"},
	"web/api/sockets.ts":            {1, "a socket that is silent, or that nobody uses"},
	"web/compose/suggest.ts":        {1, "the same"},
	"web/embed/calm.ts":             {1, "a click that opened the widget hits nothing in it"},
	"web/embed/host.ts":             {1, "a host that gives no token in time"},
	"web/notify/notify.ts":          {1, "a browser that shows no notification in time"},
	"web/palette/palette.tsx":       {1, "the dialog gives the focus back first"},
	"web/parts/clock.ts":            {1, "the seconds of what runs"},
	"web/parts/code/colors.ts":      {1, "code is coloured when it no longer grows"},
	"web/parts/code/copy.tsx":       {1, "what a button says after a click"},
	"web/parts/later.ts":            {1, "what is loaded when the browser has time"},
	"web/parts/save.ts":             {1, "the address of a file that was saved"},
	"web/shell/acting.ts":           {1, "the same"},
	"web/shell/failed.tsx":          {1, "the address changes before the page is loaded again"},
	"packages/chat/registry.ts":     {1, "a conversation that nobody shows any more"},
	"packages/chat/conversation.ts": {2, "a lost stream is taken up again, with longer and longer pauses; an answer is sent when the Chat has it"},
	"packages/chat/streams.ts":      {1, "the longest wait of a stop for the end of its streams"},
	"packages/chat/vue.ts":          {1, "the pause between two renderings"},
	"packages/chat/follow.ts":       {1, "the pause after a lost connection"},
	"packages/chat/silence.ts":      {1, "a connection that is silent"},
}

// The gateway pushes all that the page shows.
func TestThePagePollsNothing(t *testing.T) {
	t.Parallel()
	timer := regexp.MustCompile(`\bset(Timeout|Interval)\(`)
	for where, all := range map[string]map[string]string{"web": sources(t), "packages/chat": codeIn(t, "../packages/chat/src")} {
		for name, source := range all {
			file := where + "/" + name
			if n := len(timer.FindAllString(source, -1)); n > timers[file].most {
				t.Errorf("%s has %d timers, and the table in this test knows %d: let the gateway push, or say in the table what the timer is for", file, n, timers[file].most)
			}
		}
	}
}

// The page in the widget's frame has another fetch, so no code of the page may go around it.
// sockets.ts carries what that fetch hands over.
func TestEveryRequestOfThePageGoesByOneFetch(t *testing.T) {
	t.Parallel()
	direct := regexp.MustCompile(`\bfetch\(|XMLHttpRequest|sendBeacon|new WebSocket`)
	for name, source := range sources(t) {
		if direct.MatchString(source) && name != "api/signin.ts" && name != "api/sockets.ts" && name != "embed/token.ts" {
			t.Errorf("%s sends a request by itself: use ask of api/signin.ts", name)
		}
	}
}
