// Command stages runs the stages of a test run, which are targets of the Makefile, and prints how
// long each took and what its tests counted:
//
//	go run ./test/stages install binary test-go:install,binary page-check
//
// Two stages run at a time, in the order of the arguments. A stage NAME:OTHER,... waits until each
// OTHER has passed, and one NAME:OTHER?,... until OTHER has ended, however it went; meanwhile those
// after it go first. A stage that fails stops no other stage, except those that wait until it has passed.
//
// What a stage prints goes to bin/stages/NAME.log, and the end of that to the terminal if the
// stage fails.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	logs       = "bin/stages"
	atOnce     = 2           // stages that run at a time
	reminder   = time.Minute // how often a stage that runs says so
	graceOfEnd = 20 * time.Second
	shown      = 12_000 // bytes of the log of a stage that failed
	lastWords  = 1500   // bytes of it that stand at the end of the run
)

// full: the stages do all that they can, for as long as that takes.
var full = os.Getenv("TRIBUTARY_TEST_FULL") != "" //nolint:gochecknoglobals // never written

// longest is the longest time of one stage.
func longest() time.Duration {
	if full {
		return 3 * time.Hour
	}
	return 40 * time.Minute
}

// again is the command that runs stages once more.
func again(stages ...string) string {
	command := "make " + strings.Join(stages, " or make ")
	if full {
		return "TRIBUTARY_TEST_FULL=1 " + command
	}
	return command
}

// stage is a target of the Makefile, and how it went.
type stage struct {
	name      string
	after     []*stage // those that it waits for
	needs     []*stage // those of them that must have passed
	ended     bool
	began     time.Duration // since the beginning of the run
	took      time.Duration
	processor time.Duration // of all its processes that were waited for
	end       string        // of its log, if it failed
	count     count
	err       error
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	all, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return fmt.Errorf("make the folder of the logs: %w", err)
	}
	began := time.Now()
	say := printer(began)
	ended := make(chan *stage)
	running := 0
	for waiting := slices.Clone(all); len(waiting) > 0 || running > 0; {
		if next := slices.IndexFunc(waiting, (*stage).isReady); next >= 0 && running < atOnce {
			s := waiting[next]
			waiting = slices.Delete(waiting, next, next+1)
			running++
			s.began = time.Since(began)
			go func() {
				s.run(ctx, say)
				ended <- s
			}()
			continue
		}
		s := <-ended
		s.ended = true
		running--
	}
	return report(all, time.Since(began))
}

// parse reads the stages. A stage waits for earlier ones only, so that none waits for ever.
func parse(args []string) (all []*stage, err error) {
	named := map[string]*stage{}
	for _, arg := range args {
		name, after, waits := strings.Cut(arg, ":")
		if named[name] != nil {
			return nil, fmt.Errorf("the stage %s stands there twice: name each stage once", name)
		}
		s := &stage{name: name}
		for other := range strings.SplitSeq(after, ",") {
			other, ended := strings.CutSuffix(other, "?")
			switch {
			case !waits:
			case named[other] == nil:
				return nil, fmt.Errorf("the stage %s waits for %q, which does not stand before it", name, other)
			default:
				s.after = append(s.after, named[other])
				if !ended {
					s.needs = append(s.needs, named[other])
				}
			}
		}
		named[name] = s
		all = append(all, s)
	}
	return all, nil
}

// isReady reports whether all that the stage waits for has ended.
func (s *stage) isReady() bool {
	return !slices.ContainsFunc(s.after, func(other *stage) bool { return !other.ended })
}

// printer prints lines with the seconds since the beginning, one at a time.
func printer(began time.Time) func(format string, args ...any) {
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf("[%4.0f s] %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
}

// run runs the stage, unless one that it needs has failed.
func (s *stage) run(ctx context.Context, say func(string, ...any)) {
	if failed := slices.IndexFunc(s.needs, func(other *stage) bool { return other.err != nil }); failed >= 0 {
		s.err = fmt.Errorf("not run, because %s failed", s.needs[failed].name)
		say("%s: %v", s.name, s.err)
		return
	}
	if ctx.Err() != nil {
		s.err = fmt.Errorf("not run: %w", ctx.Err())
		return
	}
	say("%s ...", s.name)
	began := time.Now()
	file := filepath.Join(logs, s.name+".log")
	s.err = s.make(ctx, file, say)
	s.took = time.Since(began)
	text, err := os.ReadFile(file)
	if err != nil {
		s.err = fmt.Errorf("read its log: %w", err)
	}
	s.count = counted(string(text))
	if s.err == nil {
		say("%s passed: %.0f s%s", s.name, s.took.Seconds(), s.count)
		return
	}
	s.end = end(string(text))
	say("%s FAILED: %.0f s%s: %v. The end of %s:\n%s\nTo repeat it alone: %s", s.name, s.took.Seconds(), s.count, s.err, file, s.end, again(s.name))
}

// make runs make in a process group of its own, so that nothing of it goes on after the stage.
func (s *stage) make(ctx context.Context, file string, say func(string, ...any)) error {
	ctx, cancel := context.WithTimeout(ctx, longest())
	defer cancel()
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("make its log: %w", err)
	}
	defer out.Close()
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", s.name)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = graceOfEnd
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start make: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	began, remind := time.Now(), time.NewTicker(reminder)
	defer remind.Stop()
	for {
		select {
		case err := <-ended:
			s.processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left behind
			if ctx.Err() == context.DeadlineExceeded {
				return fmt.Errorf("it was ended after %s", longest())
			}
			return err
		case <-remind.C:
			say("%s: %.0f s", s.name, time.Since(began).Seconds())
		}
	}
}

// end is the end of a log.
func end(text string) string {
	text = strings.TrimRight(text, "\n")
	if len(text) > shown {
		text = "...\n" + text[len(text)-shown:]
	}
	return text
}
