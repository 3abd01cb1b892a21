package procio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// LineTooLongError says that a line of output was skipped.
type LineTooLongError struct{ Max int }

// Error implements error.
func (e LineTooLongError) Error() string {
	return fmt.Sprintf("a line of more than %d bytes was skipped", e.Max)
}

// ReadLine returns the next line of standard output without its end. After the last line
// ReadLine returns io.EOF. Half a line at the end of the output comes together with
// io.ErrUnexpectedEOF. ReadLine skips a line that is too long and returns a
// [LineTooLongError]; the caller may read on.
func (p *Process) ReadLine() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := p.lines.ReadSlice('\n')
		if long = long || len(line)+len(part) > p.cfg.MaxLine; !long {
			line = append(line, part...)
		}
		switch {
		case err == nil && long:
			return nil, LineTooLongError{Max: p.cfg.MaxLine}
		case err == nil:
			return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
		case len(part) > 0 && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed):
			continue // the buffer is full, the line goes on
		case len(line) > 0 && !long:
			return line, io.ErrUnexpectedEOF
		default:
			return nil, io.EOF
		}
	}
}

// WriteLine writes a line to standard input. It blocks while the process does
// not read, until ctx ends or the process is closed.
func (p *Process) WriteLine(ctx context.Context, line []byte) error {
	p.write.Lock()
	defer p.write.Unlock()
	if p.broken {
		return errors.New("an earlier line was written in part")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cut)
		_ = p.stdin.SetWriteDeadline(time.Now())
	})
	n, err := p.stdin.Write(append(bytes.Clone(line), '\n'))
	if !stop() {
		<-cut
		_ = p.stdin.SetWriteDeadline(time.Time{})
	}
	if err == nil {
		return nil
	}
	p.broken = n > 0
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return context.Cause(ctx)
	}
	return err
}

// draining reads a pipe to its end. The process sets a deadline on the pipe when its
// program has exited. Then draining reads the rest of the pipe and ends, even if another
// process still holds the pipe.
type draining struct{ pipe *os.File }

func (d draining) Read(b []byte) (int, error) {
	n, err := d.pipe.Read(b)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	if err := d.pipe.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
		return 0, io.EOF
	}
	n, err = d.pipe.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return n, io.EOF
	}
	return n, err
}

// drainTime is how long a pipe may be silent after its process has exited.
const drainTime = 50 * time.Millisecond

// tailBytes is how much of standard error is kept.
const tailBytes = 8 << 10

// tail keeps the end of standard error.
type tail struct {
	mu  sync.Mutex
	end []byte
}

// copy reads until the stream ends.
func (t *tail) copy(r io.Reader) {
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		t.mu.Lock()
		t.end = append(t.end, buf[:n]...)
		if extra := len(t.end) - tailBytes; extra > 0 {
			t.end = append(t.end[:0], t.end[extra:]...)
		}
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// String returns what is kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.end, []byte("\uFFFD")))
}

func (t *tail) last() string {
	line := lastLine(t.String())
	if r := []rune(line); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return line
}
