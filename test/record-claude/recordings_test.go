//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const folder = "../recordings/claude"

// foreign is what no recording may hold: a folder or port of the machine on
// which it was made.
var foreign = regexp.MustCompile(`record-claude|/root\b|/Users/|/home/[^a]|/var/folders|127\.0\.0\.1:\d+`)

func TestEveryCaseIsRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range cases() {
		names := []string{c.name}
		if c.name == "resume" {
			names = []string{"resume-1", "resume-2", "resume-fork"}
		}
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(folder, name+".jsonl")); err != nil {
				t.Errorf("go run ./test/record-claude %s: %v", c.name, err)
			}
		}
	}
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			limit := 150 << 10
			if name == "big" {
				limit = 700_000
			}
			if len(raw) > limit {
				t.Errorf("%d bytes; at most %d are kept", len(raw), limit)
			}
			for _, hit := range foreign.FindAllString(string(raw), -1) {
				if hit != "127.0.0.1:4010" {
					t.Errorf("holds %q of the machine that made it", hit)
				}
			}
			check(t, bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")))
		})
	}
}

// check checks the shape of a recording, and each expectation against what the
// agent itself says at the end of the turn.
func check(t *testing.T, lines [][]byte) {
	t.Helper()
	var last *resultLine
	expects, results := 0, 0
	for i, raw := range lines {
		var l struct {
			Dir     string          `json:"dir"`
			Version string          `json:"version"`
			Msg     json.RawMessage `json:"msg"`
			Expect  *Expectation    `json:"expect"`
		}
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if i == 0 && (l.Dir != "meta" || l.Version != claudeCode().Package.String()) {
			t.Errorf("recorded with %q; record it again with %s", l.Version, claudeCode().Package)
		}
		switch {
		case l.Dir == "out":
			var r resultLine
			if err := json.Unmarshal(l.Msg, &r); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			if r.Type == "result" {
				last = &r
				results++
			}
		case l.Expect != nil:
			expects++
			last.compare(t, *l.Expect)
		}
	}
	if expects == 0 || expects != results {
		t.Errorf("%d turns ended, and %d expectations stand here", results, expects)
	}
}

type resultLine struct {
	Type     string `json:"type"`
	IsError  bool   `json:"is_error"`
	Terminal string `json:"terminal_reason"`
	Result   string `json:"result"`
}

func (r *resultLine) compare(t *testing.T, e Expectation) {
	t.Helper()
	if r == nil {
		t.Error("an expectation stands before the end of its turn")
		return
	}
	want := "completed"
	switch {
	case strings.HasPrefix(r.Terminal, "aborted"):
		want = "canceled"
	case r.IsError:
		want = "failed"
	}
	if e.Outcome != want {
		t.Errorf("outcome %s is expected; the agent says %s (%s)", e.Outcome, want, r.Terminal)
	}
	if want != "completed" {
		return
	}
	final := ""
	if len(e.Text) > 0 {
		final = e.Text[len(e.Text)-1]
	}
	if final != r.Result {
		t.Errorf("the last text is expected to be %.200q; the agent says %.200q", final, r.Result)
	}
}
