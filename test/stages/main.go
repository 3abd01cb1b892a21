// Command stages runs the stages of a test run, which are targets of the Makefile, and prints how
// long each took and what its tests counted:
//
//	go run ./test/stages "page-check binary test-go:install" "install conformance:binary"
//
// Each argument is a lane. The stages of a lane run one after the other, and the lanes beside each
// other. A stage NAME:OTHER waits until OTHER has passed. A stage that fails stops no other stage,
// except those that wait for it.
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
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	logs       = "bin/stages"
	longest    = 40 * time.Minute // of one stage
	reminder   = time.Minute      // how often a stage that runs says so
	graceOfEnd = 20 * time.Second
	shown      = 12_000 // bytes of the log of a stage that failed
	lastWords  = 1500   // bytes of it that stand at the end of the run
)

// stage is a target of the Makefile, and how it went.
type stage struct {
	name, after string
	lane        int
	took        time.Duration
	processor   time.Duration // of all its processes that were waited for
	end         string        // of its log, if it failed
	count       count
	err         error
	done        chan struct{} // closed when it has ended
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
	lanes, err := parse(args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return fmt.Errorf("make the folder of the logs: %w", err)
	}
	began := time.Now()
	byName, all := map[string]*stage{}, []*stage{}
	for _, lane := range lanes {
		for _, s := range lane {
			byName[s.name] = s
			all = append(all, s)
		}
	}
	say := printer(began)
	var running sync.WaitGroup
	for _, lane := range lanes {
		running.Go(func() {
			for _, s := range lane {
				s.run(ctx, byName[s.after], say)
				close(s.done)
			}
		})
	}
	running.Wait()
	return report(all, time.Since(began))
}

// parse reads the lanes, and refuses stages that would wait for ever.
func parse(args []string) (lanes [][]*stage, err error) {
	lane := map[string]int{}
	for i, arg := range args {
		var stages []*stage
		for word := range strings.FieldsSeq(arg) {
			name, after, _ := strings.Cut(word, ":")
			if _, twice := lane[name]; twice {
				return nil, fmt.Errorf("the stage %s stands there twice: name each stage once", name)
			}
			lane[name] = i
			stages = append(stages, &stage{name: name, after: after, lane: i, done: make(chan struct{})})
		}
		lanes = append(lanes, stages)
	}
	for i, stages := range lanes {
		for _, s := range stages {
			other, known := lane[s.after]
			switch {
			case s.after == "":
			case !known:
				return nil, fmt.Errorf("the stage %s waits for %s, which is no stage of this run", s.name, s.after)
			case other == i && !before(stages, s.after, s.name):
				return nil, fmt.Errorf("the stage %s waits for %s, which comes after it in its lane", s.name, s.after)
			}
		}
	}
	return lanes, nil
}

func before(stages []*stage, first, second string) bool {
	for _, s := range stages {
		if s.name == first || s.name == second {
			return s.name == first
		}
	}
	return false
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

// run runs the stage after the other one, if there is another.
func (s *stage) run(ctx context.Context, other *stage, say func(string, ...any)) {
	if other != nil {
		select {
		case <-other.done:
		case <-ctx.Done():
		}
		if ctx.Err() == nil && other.err != nil {
			s.err = fmt.Errorf("not run, because %s failed", other.name)
			say("%s: %v", s.name, s.err)
			return
		}
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
	say("%s FAILED: %.0f s%s: %v. The end of %s:\n%s\nTo repeat it alone: make %s", s.name, s.took.Seconds(), s.count, s.err, file, s.end, s.name)
}

// make runs make in a process group of its own, so that nothing of it goes on after the stage.
func (s *stage) make(ctx context.Context, file string, say func(string, ...any)) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
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
				return fmt.Errorf("it was ended after %s", longest)
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
