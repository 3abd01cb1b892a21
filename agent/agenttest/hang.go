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

// happened is what the turns have on record.
func (st *testSession) happened() string {
	st.host.feed.mu.Lock()
	turns := slices.Concat(st.host.turns, st.host.begun)
	st.host.feed.mu.Unlock()
	var events []trace.Event
	for _, r := range turns {
		events = append(events, r.Events()...)
	}
	return brief(events...)
}

// brief is a line for each of the newest events.
func brief(events ...trace.Event) string {
	const most = 40
	if len(events) == 0 {
		return "There are no events."
	}
	lines := []string{"The newest events:"}
	for _, e := range events[max(0, len(events)-most):] {
		payload, err := json.Marshal(e.Payload)
		if err != nil {
			payload = []byte(err.Error())
		}
		lines = append(lines, fmt.Sprintf("  %s %s %.120s", e.ID, e.Payload.Kind(), payload))
	}
	return strings.Join(lines, "\n")
}
