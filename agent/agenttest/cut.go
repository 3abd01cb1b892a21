package agenttest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Cut makes a fake agent die at a point of what it says. The suite chooses the point,
// and the agent passes each of its messages through the Cut. An agent in another process
// finds its Cut by [Cut.Env]. An agent dies once: after a restart it lives.
type Cut struct {
	dir string // holds the point, and what the agent has said so far

	mu    sync.Mutex
	begun bool
	count int
	point point
}

// point is the place where an agent dies: after a message, or in the middle of it.
type point struct {
	message int // the first is 1; at 0 the agent lives
	half    bool
}

func (p point) String() string {
	if p.half {
		return fmt.Sprintf("in message %d", p.message)
	}
	return fmt.Sprintf("after message %d", p.message)
}

// The files of a Cut.
const (
	pointFile = "point"
	saidFile  = "said"
)

// cutVariable is the environment variable that names a Cut's directory.
const cutVariable = "AGENTTEST_CUT"

// Env is what an agent's process needs in its environment; see [Fake].
func (c *Cut) Env() string { return cutVariable + "=" + c.dir }

// Pass takes a message before the agent sends it. Pass returns how much of the message
// the agent sends, and whether it dies then.
func (c *Cut) Pass(message []byte) (sent []byte, dies bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.begun {
		c.begin()
	}
	c.count++
	c.note(message)
	switch {
	case c.point.message != c.count:
		return message, false
	case c.point.half:
		return message[:len(message)/2], true
	}
	return message, true
}

// begin takes the point, so that the next process finds none.
func (c *Cut) begin() {
	c.begun = true
	file := filepath.Join(c.dir, pointFile)
	data, err := os.ReadFile(file) //nolint:gosec // a directory of the test's own
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if _, scanned := fmt.Sscan(string(data), &c.point.message, &c.point.half); errors.Join(err, scanned, os.Remove(file)) != nil {
		panic("agenttest: the point in " + file + " cannot be taken")
	}
}

// note keeps the beginning of a message, a line each.
func (c *Cut) note(message []byte) {
	const most = 200
	f, err := os.OpenFile(filepath.Join(c.dir, saidFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%q\n", message[:min(len(message), most)])
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic("agenttest: an agent's message cannot be noted: " + err.Error())
	}
}

// set chooses where the next process dies.
func (c *Cut) set(p point) error {
	return os.WriteFile(filepath.Join(c.dir, pointFile), fmt.Appendln(nil, p.message, p.half), 0o600)
}

// said is what the agent has said so far.
func (c *Cut) said() []string {
	data, err := os.ReadFile(filepath.Join(c.dir, saidFile))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// Fake makes the test binary an agent's program: TestMain calls it first. Where the
// environment has the variable, Fake runs the program with the variable's value and exits
// with its code. A Cut in the environment holds for the lines on standard output.
func Fake(variable string, program func(how string) int) {
	how, set := os.LookupEnv(variable)
	if !set {
		return
	}
	flush := func() {}
	if c := inherited(); c != nil {
		flush = c.lines()
	}
	code := program(how)
	flush()
	os.Exit(code)
}

// inherited returns the Cut that the environment names, or nil.
func inherited() *Cut {
	if dir := os.Getenv(cutVariable); dir != "" {
		return &Cut{dir: dir}
	}
	return nil
}

// lines passes standard output through the Cut. The function that it returns waits until
// all is written.
func (c *Cut) lines() (flush func()) {
	r, w, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	stdout, done := os.Stdout, make(chan struct{})
	os.Stdout = w
	go func() {
		defer close(done)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				sent, dies := c.Pass(line)
				_, _ = stdout.Write(sent)
				if dies {
					dieNow()
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return func() {
		_ = w.Close()
		<-done
	}
}

// dieNow ends this process without a word.
func dieNow() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	for {
		time.Sleep(time.Hour) // not select {}: without cgo that is a deadlock, which ends a program
	}
}
