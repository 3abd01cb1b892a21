package procio

import (
	"io"
	"strings"
	"unicode/utf8"
)

// ReadText returns what comes next on standard output, in whole characters; bytes that
// are no UTF-8 become U+FFFD. After the last text it returns io.EOF. A process is read by
// lines or as text, not both ways.
func (p *Process) ReadText() (string, error) {
	for {
		if _, err := p.lines.Peek(1); err != nil { // the pipe has ended, or was closed
			return "", io.EOF
		}
		text, _ := p.lines.Peek(p.lines.Buffered()) //nolint:errcheck // so much is there
		whole := len(text) - partial(text)
		if whole == 0 { // wait for the rest of a character, as long as there is one
			more, err := p.lines.Peek(len(text) + 1)
			if err == nil {
				continue
			}
			text, whole = more, len(more)
		}
		out := strings.ToValidUTF8(string(text[:whole]), "\uFFFD")
		_, err := p.lines.Discard(whole)
		return out, err
	}
}

// partial is how many bytes at the end begin a character that is not whole.
func partial(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if utf8.RuneStart(b[len(b)-n]) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// EndInput ends standard input.
func (p *Process) EndInput() { _ = p.stdin.Close() }

// ExitCode waits for the end of the process and returns its exit code: -1 if a signal
// ended it.
func (p *Process) ExitCode() int {
	<-p.exited
	return p.cmd.ProcessState.ExitCode()
}
