//go:build unix

package procio

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzReadLine reads any output of an agent. ReadLine reports each line that is too long,
// returns half a line at the end with its error, and loses nothing else.
func FuzzReadLine(f *testing.F) {
	for _, s := range []string{"", "\n", "a\nb", "a\r\nb\r", "\x00\xff\n\n", "0123456789012345678901234567890123456789\nshort\n"} {
		f.Add([]byte(s))
	}
	const most = 32
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &Process{cfg: Config{MaxLine: most}, lines: bufio.NewReaderSize(bytes.NewReader(data), 16)}
		for i, want := range bytes.SplitAfter(data, []byte("\n")) {
			line, err := p.ReadLine()
			whole := bytes.HasSuffix(want, []byte("\n"))
			switch {
			case len(want) == 0 || !whole && len(want) > most:
				if !errors.Is(err, io.EOF) {
					t.Errorf("line %d, the end: %q, %v", i, line, err)
				}
			case len(want) > most:
				if _, long := errors.AsType[LineTooLongError](err); !long {
					t.Errorf("line %d of %d bytes: %v", i, len(want), err)
				}
			case !whole:
				if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(line, want) {
					t.Errorf("half a line %q: %q, %v", want, line, err)
				}
			default:
				if want = bytes.TrimSuffix(want[:len(want)-1], []byte("\r")); err != nil || !bytes.Equal(line, want) {
					t.Errorf("line %d: %q, %v; want %q", i, line, err, want)
				}
			}
		}
	})
}
