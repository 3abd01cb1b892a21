package agenttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tributary-dev/tributary/trace"
)

// watched is a goroutine of which the stack is shown if it hangs.
type watched struct {
	mu   sync.Mutex
	head string // of its stack: "goroutine 12 "
}

func watch() *watched { return &watched{} }

// enter is called by the goroutine itself.
func (w *watched) enter() {
	buf := make([]byte, 64)
	head, _, _ := bytes.Cut(buf[:runtime.Stack(buf, false)], []byte("["))
	w.mu.Lock()
	w.head = string(head)
	w.mu.Unlock()
}

// stack is where the goroutine is now.
func (w *watched) stack() string {
	w.mu.Lock()
	head := w.head
	w.mu.Unlock()
	const enough = 4 << 20
	buf := make([]byte, enough)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if head != "" && strings.HasPrefix(stack, head) {
			return "It hangs here:\n" + stack
		}
	}
	return "It has not begun."
}

// happened is what the turns have on record, a line for each of the newest events.
func (st *stand) happened() string {
	const most = 40
	st.host.feed.mu.Lock()
	turns := slices.Concat(st.host.turns, st.host.begun)
	st.host.feed.mu.Unlock()
	var lines []string
	for _, r := range turns {
		for _, e := range r.Events() {
			lines = append(lines, brief(e))
		}
	}
	if len(lines) == 0 {
		return "There are no events."
	}
	return "The newest events:\n" + strings.Join(lines[max(0, len(lines)-most):], "\n")
}

func brief(e trace.Event) string {
	payload, err := json.Marshal(e.Payload)
	if err != nil {
		payload = []byte(err.Error())
	}
	return fmt.Sprintf("  %s %s %.120s", e.ID, e.Payload.Kind(), payload)
}
