package sse_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tributary-dev/tributary/internal/sse"
)

// read tells the events of a stream and the error of each.
func read(r io.Reader, limit int) []string {
	var all []string
	for e, err := range sse.NewReader(r, limit).All() {
		line := fmt.Sprintf("%s|%s|%s", e.Name, e.ID, e.Data)
		if err != nil {
			line += "|" + err.Error()
		}
		all = append(all, line)
	}
	return all
}

func TestEventsOfAStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"an empty stream":                  {"", nil},
		"comments and empty lines":         {": hi\n\n\n:\n", nil},
		"lines that end with CRLF":         {"event: a\r\nid: 7\r\ndata: x\r\n\r\n", []string{"a|7|x"}},
		"lines that end with CR":           {"event: a\rid: 7\rdata: x\rdata: y\r\rdata: z\r\r", []string{"a|7|x\ny", "|7|z"}},
		"ends of all kinds":                {"data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\r", []string{"||a\nb\nc", "||d"}},
		"a byte order mark and a CR":       {"\ufeffdata: x\r\r", []string{"||x"}},
		"a byte order mark":                {"\ufeffdata: x\n\n", []string{"||x"}},
		"several lines of data":            {"data: x\ndata:y\ndata:  z\n\n", []string{"||x\ny\n z"}},
		"an id lasts and a name does not":  {"id: 1\nevent: a\ndata: x\n\ndata: y\n\n", []string{"a|1|x", "|1|y"}},
		"an event without data is dropped": {"event: a\n\ndata: x\n\n", []string{"||x"}},
		"an empty line of data is data":    {"data\n\n", []string{"||"}},
		"unknown fields":                   {"retry: 3\nfoo: x\ndata: x\n\n", []string{"||x"}},
		"a cut in mid-event":               {"data: x\n\ndata: y", []string{"||x", "||y|unexpected EOF"}},
		"a cut after a line":               {"data: x\n", []string{"||x|unexpected EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []io.Reader{strings.NewReader(c.stream), iotest.OneByteReader(strings.NewReader(c.stream))} {
				if got := read(r, 0); !slices.Equal(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

// xs is endless.
type xs struct{ text string }

func (x xs) Read(b []byte) (int, error) { return copy(b, x.text), nil }

// A server may be silent between a CR and what follows.
func TestACRGivesItsEventAtOnce(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	go func() { _, _ = io.WriteString(w, "data: x\r\r") }()
	if e, err := sse.NewReader(r, 0).Next(); err != nil || string(e.Data) != "x" {
		t.Errorf("got %q, %v", e.Data, err)
	}
}

func TestAnEventThatDoesNotEndBreaksTheStream(t *testing.T) {
	t.Parallel()
	for _, endless := range []string{"x", "data: x\n"} {
		got := read(io.MultiReader(strings.NewReader("data: x\n\ndata: "), xs{endless}), 5000)
		if want := []string{"||x", "|||the stream is broken: an event does not end"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAnEventBeyondTheLimitIsSkippedAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	skipped := "|||an event of the stream is larger than 5000 bytes and was skipped"
	for _, stream := range []string{
		"data: a\n\ndata: " + long + "\ndata: y\n\ndata: b\n\n",                                      // a long line
		"data: a\n\n" + strings.Repeat("data: "+long[:999]+"\n", 10) + "\ndata: b\n\n",               // many short lines
		"data: a\n\nevent: " + long + "\ndata: " + long + "\n\n: " + long[:3000] + "\n\ndata: b\n\n", // other fields
	} {
		if got, want := read(strings.NewReader(stream), 5000), []string{"||a", skipped, "||b"}; !slices.Equal(got, want) {
			t.Errorf("got %.200q, want %q", got, want)
		}
	}
}

func TestAFailedReadIsTheLastError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)), 0)
	if want := []string{"||a", "|||broken"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: a\r\nid\r\ndata:\r\n\r\n", "data: " + strings.Repeat("x", 100) + "\n\n", "\ufeff:", "\n\n\n", "data: a\r\rdata: b\r\n\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		one := read(strings.NewReader(stream), 64)
		if again := read(iotest.OneByteReader(strings.NewReader(stream)), 64); !slices.Equal(one, again) {
			t.Errorf("%q, and byte by byte %q", one, again)
		}
		for e := range sse.NewReader(strings.NewReader(stream), 64).All() {
			if len(e.Data) > 64 {
				t.Errorf("an event of %d bytes", len(e.Data))
			}
		}
	})
}
