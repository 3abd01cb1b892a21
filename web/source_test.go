package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page reads streams and histories of one form, whatever form the server or the
// session gives to those who do not say.
func TestThePageAsksForTheFormItReads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("src/*.ts*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	form, asks := "", 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if m := regexp.MustCompile(`export const PROFILE = '(.*)';`).FindStringSubmatch(line); m != nil {
				form = m[1]
			}
			if regexp.MustCompile("/api/chat[`'?]|/messages").MatchString(line) {
				if asks++; !strings.Contains(line, "?${PROFILE}") {
					t.Errorf("%s does not say in which form: %s", file, line)
				}
			}
		}
	}
	if form != "client=7&compat=none" || asks < 2 {
		t.Errorf("%d addresses ask for %q", asks, form)
	}
}

// The gateway pushes all that the page shows. The one interval counts the seconds of a turn.
func TestThePagePollsNothing(t *testing.T) {
	t.Parallel()
	var with []string
	for _, pattern := range []string{"src/*.ts*", "src/parts/*.ts*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no sources: %v", err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), "setInterval") {
				with = append(with, file)
			}
		}
	}
	if len(with) != 1 || with[0] != filepath.Join("src", "working.tsx") {
		t.Errorf("intervals in %q", with)
	}
}
