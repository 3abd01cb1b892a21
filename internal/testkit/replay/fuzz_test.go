package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/tributary-dev/tributary/agent"
)

// FuzzScan takes recordings apart: there are no more messages than lines, each has
// a direction and something in it, and the pieces in which it is read do not matter.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"{\"a\":1}\n{\"b\":2}", "\n\n[1]\r\n", "{\"t\":1.5,\"dir\":\"out\",\"msg\":{}}\n{\"dir\":\"meta\"}\nx\n{\"dir\":\"err\",\"text\":\"x\"}",
		"event: a\ndata: {}\ndata: 1\n\n: c\ndata:[DONE]", "data", "data:\n\n", "\ufeff{}", "x", "{\"dir\":\"http-res\",\"t\":1e300}", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		all := scanAll(t, bytes.NewReader(data))
		again := scanAll(t, iotest.OneByteReader(bytes.NewReader(data)))
		if len(all) != len(again) {
			t.Fatalf("%d messages, and %d byte by byte", len(all), len(again))
		}
		if lines := bytes.Count(data, []byte("\n")) + 1; len(all) > lines {
			t.Errorf("%d messages in %d lines", len(all), lines)
		}
		for i, m := range all {
			if m.Dir == "" || len(m.Data) == 0 {
				t.Errorf("an empty message: %+v", m)
			}
			if m.Dir != again[i].Dir || m.Channel != again[i].Channel || !bytes.Equal(m.Data, again[i].Data) {
				t.Errorf("%+v, and byte by byte %+v", m, again[i])
			}
		}
	})
}

func scanAll(t *testing.T, r io.Reader) []agent.Message {
	t.Helper()
	s := newScanner(r)
	var all []agent.Message
	for {
		m, at, err := s.next()
		if err != nil {
			if !errors.Is(err, io.EOF) && err.Error() == "" {
				t.Error("an error without words")
			}
			return all
		}
		if at < 0 {
			t.Errorf("a message at %v", at)
		}
		if s.format == events && !json.Valid(m.Data) {
			t.Errorf("the data of an event is no JSON: %q", m.Data)
		}
		all = append(all, m)
	}
}
