package main

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// Each mutation finds its text, and leaves a file that Go can read.
func TestEveryMutationFits(t *testing.T) {
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range table() {
		if names[m.name] || m.name == "" || m.promise == "" || m.text == m.other || len(m.packages) == 0 {
			t.Errorf("%q has a name that is taken, or lacks a promise, a change or a package", m.name)
		}
		names[m.name] = true
		source, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		broken, err := m.apply(source)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, broken, parser.SkipObjectResolution); err != nil {
			t.Errorf("%s: the broken file is no Go: %v", m.name, err)
		}
		for _, pkg := range m.packages {
			if _, err := os.Stat(filepath.Join(root, pkg)); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
	}
}

// A mutation is noticed only by a test that fails: not by the compiler, nor by a timeout, nor by
// tests that do not run.
func TestOnlyATestThatFailsNotices(t *testing.T) {
	red := errors.New("exit status 1")
	for name, c := range map[string]struct {
		out  string
		err  error
		want verdict
	}{
		"a test fails":       {"--- FAIL: TestA (0.00s)\n    a_test.go:1: no\nFAIL\n", red, verdict{killed, "TestA"}},
		"a subtest fails":    {"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n", red, verdict{killed, "TestA"}},
		"a panic":            {"panic: no such place\n\ngoroutine 1 [running]:\n", red, verdict{broken, "panic: no such place"}},
		"all pass":           {"ok  \tp\t0.1s\n", nil, verdict{passed, ""}},
		"a timeout":          {"panic: test timed out after 2m0s\n\trunning tests:\n\t\tTestA (2m0s)\n", red, verdict{hung, ""}},
		"a failed timeout":   {"--- FAIL: TestA (0.00s)\npanic: test timed out after 2m0s\n", red, verdict{hung, ""}},
		"no build":           {"# p\n./a.go:1:1: no\nFAIL\tp [build failed]\n", red, verdict{uncompiled, "# p\n./a.go:1:1: no\nFAIL\tp [build failed]\n"}},
		"no tests":           {"ok  \tp\t0.1s [no tests to run]\n", nil, verdict{unrun, ""}},
		"a package of none":  {"?   \tp\t[no test files]\n", nil, verdict{unrun, ""}},
		"it was interrupted": {"", red, verdict{broken, "exit status 1"}},
	} {
		if got := judge(c.out, c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
