// Command mutations breaks the promises of the gateway, one at a time, and runs the tests that
// must notice. It writes nothing into the tree: the Go command reads the broken file from an
// overlay, so several mutations run beside each other.
//
//	go run ./test/mutations [-run REGEXP] [-p N]
//
// A mutation fails if its tests pass, if it does not compile, if its tests end only by their
// timeout, or if they fail without it.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// timeout is the longest time for the tests of one package, also on a slow machine.
const timeout = "5m"

func main() {
	which := flag.String("run", "", "run only the mutations whose names match this regular expression")
	parallel := flag.Int("p", 2, "how many mutations run at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, *which, max(*parallel, 1))
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutations:", err)
	}
	if failed > 0 || err != nil {
		stop()
		os.Exit(1)
	}
}

// run runs the mutations whose names match, and returns how many of them were not noticed.
func run(ctx context.Context, which string, parallel int) (failed int, err error) {
	pattern, err := regexp.Compile(which)
	if err != nil {
		return 0, err
	}
	root, err := moduleRoot()
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "mutations-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	all := table()
	chosen := slices.DeleteFunc(slices.Clone(all), func(m mutation) bool { return !pattern.MatchString(m.name) })
	r := runner{root: root, dir: dir, without: map[string]func() verdict{}}
	places := make(chan struct{}, parallel)
	var running sync.WaitGroup
	var printing sync.Mutex
	for i, m := range chosen {
		running.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			if ctx.Err() != nil {
				return
			}
			began := time.Now()
			killed, err := r.try(ctx, i, m)
			printing.Lock()
			defer printing.Unlock()
			took := time.Since(began).Seconds()
			if err != nil {
				failed++
				fmt.Printf("FAIL  %6.1f s  %s: %v\n      %s\n", took, m.name, err, m.promise)
				return
			}
			fmt.Printf("ok    %6.1f s  %s: %s\n", took, m.name, killed)
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return failed, context.Cause(ctx)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", len(chosen)-failed, failed, len(all)-len(chosen))
	return failed, nil
}

// runner runs tests of the module at root.
type runner struct {
	root string
	dir  string // for the broken files

	mu      sync.Mutex
	without map[string]func() verdict // the tests without a mutation, by their arguments
}

// try runs the tests of a mutation, and returns the name of the test that noticed it.
func (r *runner) try(ctx context.Context, i int, m mutation) (killedBy string, err error) {
	source, err := os.ReadFile(filepath.Join(r.root, m.file))
	if err != nil {
		return "", err
	}
	broken, err := m.apply(source)
	if err != nil {
		return "", err
	}
	overlay, err := r.overlay(i, m.file, broken)
	if err != nil {
		return "", err
	}
	for _, pkg := range m.packages {
		sound := r.soundly(ctx, m, pkg)
		if sound.what != passed {
			return "", fmt.Errorf("without the mutation %s %s", pkg, sound)
		}
		v := r.test(ctx, m, pkg, "-count=1", "-overlay="+overlay)
		switch {
		case v.what == passed: // perhaps the next package notices
		case v.what == killed:
			return v.by, nil
		default:
			return "", fmt.Errorf("%s %s", pkg, v)
		}
	}
	return "", fmt.Errorf("survived: the tests of %s pass", strings.Join(m.packages, " and "))
}

// overlay writes a broken file, and the overlay that puts it in the place of the sound one.
func (r *runner) overlay(i int, file string, broken []byte) (path string, err error) {
	to := filepath.Join(r.dir, fmt.Sprintf("%d-%s", i, filepath.Base(file)))
	if err := os.WriteFile(to, broken, 0o600); err != nil {
		return "", err
	}
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(r.root, file): to}})
	if err != nil {
		return "", err
	}
	return to + ".json", os.WriteFile(to+".json", replaced, 0o600)
}

// soundly runs the tests of a mutation without it, once for all that have the same tests. The Go
// command knows the result, if the tests have passed before.
func (r *runner) soundly(ctx context.Context, m mutation, pkg string) verdict {
	r.mu.Lock()
	key := pkg + " " + m.tests
	if r.without[key] == nil {
		r.without[key] = sync.OnceValue(func() verdict { return r.test(ctx, m, pkg) })
	}
	once := r.without[key]
	r.mu.Unlock()
	return once()
}

func (r *runner) test(ctx context.Context, m mutation, pkg string, more ...string) verdict {
	args := append([]string{"test", "-failfast", "-vet=off", "-timeout=" + timeout}, more...)
	if m.tests != "" {
		args = append(args, "-run="+m.tests)
	}
	c := exec.CommandContext(ctx, "go", append(args, pkg)...) //nolint:gosec // of the table
	c.Dir = r.root
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	return judge(out.String(), err)
}

// what is how tests have ended.
type what int

const (
	passed what = iota
	killed
	hung
	uncompiled
	unrun
	broken
)

// verdict is what the tests of a package say.
type verdict struct {
	what what
	by   string // the test that failed, if killed; else what the Go command has printed
}

var firstFailure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// judge reads the output of the Go command.
func judge(out string, err error) verdict {
	name := ""
	if m := firstFailure.FindStringSubmatch(out); m != nil {
		name = m[1]
	}
	switch {
	case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"):
		return verdict{uncompiled, out}
	case strings.Contains(out, "panic: test timed out"):
		return verdict{hung, ""}
	case strings.Contains(out, "no tests to run"), strings.Contains(out, "no test files"):
		return verdict{unrun, ""}
	case err == nil:
		return verdict{passed, ""}
	}
	if name == "" {
		return verdict{broken, cmp.Or(firstLine(out), err.Error())}
	}
	return verdict{killed, name}
}

// firstLine is the first line with words of what the Go command has printed.
func firstLine(out string) string {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

func (v verdict) String() string {
	switch v.what {
	case passed:
		return "passes"
	case killed:
		return "fails: " + v.by
	case hung:
		return "ends only by its timeout: a test has to fail with a sentence"
	case uncompiled:
		return "does not compile:\n" + v.by
	case unrun:
		return "has no such tests"
	case broken:
		return "ends without a test that fails, and one has to fail with a sentence: " + v.by
	}
	return "?"
}

// moduleRoot is the directory of the go.mod at or above the working directory.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", fmt.Errorf("there is no go.mod at or above the working directory: start the program in the repository")
		}
		dir = above
	}
}
