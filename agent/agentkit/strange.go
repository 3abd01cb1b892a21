package agentkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// fewLines is how many lines of another protocol a program may print at its start. Some
// agents greet the terminal first.
const fewLines = 5

// firstLines looks at what a process prints before it is ready. A program that does not
// speak the agent's protocol would else use up the whole time of a start.
type firstLines struct {
	marks  []string // of Spec
	give   time.Duration
	refuse context.CancelCauseFunc

	mu    sync.Mutex // guards what follows
	over  bool
	count int
	first string
	timer *time.Timer
}

// see takes a line. A message of the protocol ends the search.
func (f *firstLines) see(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	var message map[string]json.RawMessage
	text := json.Unmarshal(line, &message) != nil
	if !text && marked(message, f.marks) {
		f.end()
		return
	}
	if f.count++; f.count == 1 {
		f.first = short(string(line))
	}
	switch {
	case f.count == fewLines:
		f.fail()
	case !text && f.timer == nil: // a message, and of another protocol: the next may be of ours
		f.timer = time.AfterFunc(f.give, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.fail()
		})
	}
}

func marked(message map[string]json.RawMessage, marks []string) bool {
	return marks == nil || slices.ContainsFunc(marks, func(key string) bool { return message[key] != nil })
}

// messagesIn finds the messages in a line: other output of a program may stand on the same line. A line without a
// message is returned as it is. The search is bounded, because a line may have many beginnings of objects.
func messagesIn(line []byte, marks []string) (found []json.RawMessage) {
	const large = 1 << 20 // such a line is read twice only if something stands in front
	if whole := bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}")); whole && len(line) > large || json.Valid(line) {
		return []json.RawMessage{line}
	}
	for rest, budget := line, 4*len(line)+1<<16; budget > 0; {
		at := bytes.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		rest = rest[at:]
		var message map[string]json.RawMessage
		d := json.NewDecoder(bytes.NewReader(rest))
		err := d.Decode(&message)
		behind := bytes.TrimSpace(rest[d.InputOffset():])
		inner := len(behind) > 0 && bytes.IndexByte([]byte(",]}"), behind[0]) >= 0 // of a message that is broken
		if err == nil && !inner && marked(message, marks) {
			found, rest = append(found, rest[:d.InputOffset()]), behind
			continue
		}
		read := len(rest) // the line ends within an object
		if wrong, is := errors.AsType[*json.SyntaxError](err); is {
			read = int(wrong.Offset)
		} else if err == nil {
			read = int(d.InputOffset())
		}
		budget -= read
		rest = rest[1:]
	}
	if found == nil {
		return []json.RawMessage{line}
	}
	return found
}

// fail ends the start. The caller holds f.mu.
func (f *firstLines) fail() {
	if !f.over {
		f.end()
		f.refuse(strangeError(f.first))
	}
}

// stop ends the search.
func (f *firstLines) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
}

func (f *firstLines) end() {
	f.over = true
	if f.timer != nil {
		f.timer.Stop()
	}
}

// strangeError is the first line of a program that speaks another protocol.
type strangeError string

func (e strangeError) Error() string {
	return fmt.Sprintf("its first lines are no messages of the agent's protocol: %q", string(e))
}

// short is a text without its end, if it is long.
func short(text string) string {
	const most = 80
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
