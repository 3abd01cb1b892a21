package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
)

// endless repeats a unit for ever.
type endless struct {
	unit string
	at   int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], e.unit[e.at:])
		e.at = (e.at + k) % len(e.unit)
		n += k
	}
	return n, nil
}

// body is head, then so many units, then tail.
func body(head, unit string, units int, tail string) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(&endless{unit: unit}, int64(units)*int64(len(unit))), strings.NewReader(tail))
}

// flood posts a body with a given length, or of unknown length.
func (p *process) flood(body io.Reader, length int64) (int, string) {
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.Base()+"/api/chat", body)
	if err != nil {
		return 0, err.Error()
	}
	req.ContentLength = length
	req.Header.Set("Authorization", "Bearer "+p.Token())
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(text)
}

// Bodies of every size and shape are answered for, and cost the real binary little
// memory.
//
//evidence:for limit-body limit-message
func TestFloodsOfBodies(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), os.Environ())
	mb := strings.Repeat("x", 1<<20)
	const head, tail = `{"id":"c","messages":[`, `{"role":"user","id":"u","parts":[{"type":"text","text":"hello"}]}]}`
	history := `{"role":"assistant","id":"m","parts":[{"type":"text","text":"` + mb + `"}]},`
	before := p.peak(t) >> 20
	for _, c := range []struct {
		name   string
		body   io.Reader
		length int64
		status int
		want   string
	}{
		{"a history of 100 MB", body(head, history, 100, tail), -1, 200, "[DONE]"},
		{"a message of 10 MB", body(`{"id":"c","messages":[{"role":"user","id":"u2","parts":[{"type":"text","text":"hello `, mb, 10, `"}]}]}`), -1, 200, "[DONE]"},
		{"a message of 40 MB", body(`{"id":"c","messages":[{"role":"user","id":"u3","parts":[{"type":"text","text":"`, mb, 40, `"}]}]}`), -1, 413, "The request holds a text larger than 32 MB."},
		{"a message of 40 parts", body(`{"id":"c","messages":[{"role":"user","id":"u3","parts":[`, `{"type":"text","text":"`+mb+`"},`, 40, `{"type":"text","text":"x"}]}]}`), -1, 413, "The message is too large: at most 32 MB of one message are read."},
		{"a text without an end", body(`{"id":"`, mb, 1000, ""), -1, 413, "The request holds a text larger than 32 MB."},
		{"a number without an end", body(`{"id":`, strings.Repeat("1", 1<<20), 1000, ""), -1, 413, "The request holds a text larger than 32 MB."},
		{"space without an end", body(`{"id":`, strings.Repeat(" ", 1<<20), 1000, ""), -1, 400, "64 KB of space"},
		{"keys without an end", body(`{"id":"c","x":{`, `"k":1,`, 1<<20, ""), -1, 400, "ends in the middle"},
		{"a body without an end", body(head, history, 1000, tail), -1, 413, "The request body is larger than 512 MB."},
		{"600 MB, as it says itself", body(head, history, 600, tail), 600 << 20, 413, "The request body is larger than 512 MB."},
		{"a bomb of brackets", body(`{"id":"c","x":`, "[", 1<<20, ""), -1, 400, "nested deeper than 100 levels."},
	} {
		if status, text := p.flood(c.body, c.length); status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %.300s", c.name, status, text)
		}
	}
	t.Logf("one after another: %d MB, %d before", p.peak(t)>>20, before)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			text := `{"id":"c","messages":[{"role":"assistant","id":"m","parts":[{"type":"text","text":"`
			if status, answer := p.flood(body(text, mb, 30, `"}]},`+tail[:len(tail)-len(`hello"}]}]}`)]+fmt.Sprint("hello", i)+`"}]}]}`), -1); status != 200 {
				t.Errorf("one of six at once: %d %.300s", status, answer)
			}
		})
	}
	all.Wait()
	// A large text takes three times its size while it is read, four are read at a
	// time, and the collector lets as much again gather.
	if after := p.peak(t) >> 20; after > before+1000 {
		t.Errorf("%d MB before the floods, %d after", before, after)
	} else {
		t.Logf("at once: %d MB", after)
	}
	p.end()
}
