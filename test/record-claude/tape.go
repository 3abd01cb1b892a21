//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A tape is a recording that is being made. It is safe for concurrent use.
type tape struct {
	scrub func([]byte) []byte
	path  string
	start time.Time

	mu  sync.Mutex
	buf bytes.Buffer
	err error
}

func newTape(r *room, name string) *tape {
	return &tape{scrub: r.scrub, path: filepath.Join(r.out, name+".jsonl"), start: time.Now()}
}

// line records a message: one JSON value.
func (t *tape) line(dir string, msg []byte) {
	msg, err := cut(bytes.TrimSpace(msg))
	if err != nil {
		t.fail(err)
		return
	}
	t.put(dir, "msg", msg)
}

// meta records a remark of the recorder.
func (t *tape) meta(remark map[string]any) {
	raw, err := encode(remark)
	if err != nil {
		t.fail(err)
		return
	}
	t.put("meta", "", raw)
}

// put writes {"t":…,"dir":…,"key":value}; without a key the value is an object
// whose fields follow.
func (t *tape) put(dir, key string, value []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	head, err := json.Marshal(struct {
		T   int64  `json:"t"`
		Dir string `json:"dir"`
	}{time.Since(t.start).Milliseconds(), dir})
	t.err = errors.Join(t.err, err)
	line := head[:len(head)-1]
	if key == "" {
		line = append(append(line, ','), value[1:]...)
	} else {
		line = append(line, `,"`+key+`":`...)
		line = append(append(line, value...), '}')
	}
	t.buf.Write(t.scrub(line))
	t.buf.WriteByte('\n')
}

func (t *tape) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = errors.Join(t.err, err)
}

// close writes the file, unless something went wrong.
func (t *tape) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	return os.WriteFile(t.path, t.buf.Bytes(), 0o644)
}

// encode is json.Marshal without the escapes that are meant for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
