package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/trace"
)

// lightStore is a store whose large prompts are elsewhere, as those of a disk are.
type lightStore struct{ eventlog.Store }

func (s lightStore) Append(ctx context.Context, session, turn string, events []trace.Event) (uint64, error) {
	return s.Store.Append(ctx, session, turn, light(events))
}

func (s lightStore) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	return s.Store.AppendWith(ctx, e, turn, light(events))
}

func light(events []trace.Event) []trace.Event {
	events = slices.Clone(events)
	for i, e := range events {
		if p, is := e.Payload.(trace.Prompt); is {
			p.Message.Parts = []trace.InputPart{{Type: trace.InputText, Text: "long"}}
			events[i].Payload = p
		}
	}
	return events
}

// heap is the size of the live objects.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A prompt that waits for its turn is in the log, and not in memory.
//
//evidence:for limit-large-prompts
func TestLargePromptsThatWaitAreNotInMemory(t *testing.T) {
	const prompts, size, most = 4, 3 << 20, 5 << 20
	handler, closeAll := newHandler(t, lightStore{memlog.New()}, slowly, nil)
	s := serveStand(t, handler, closeAll)
	defer s.open("POST", "/api/chat", submit("c", "u", "slow"))()
	before := heap()
	for i := range prompts {
		head, tail, _ := strings.Cut(submit("c", "u"+strconv.Itoa(i), "hello TEXT"), "TEXT")
		res, err := http.Post(s.url+"/api/chat", "application/json", io.MultiReader(strings.NewReader(head), io.LimitReader(exes{}, size), strings.NewReader(tail)))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v", res.Status, err)
		}
	}
	if held := heap() - before; held > most {
		t.Errorf("%d prompts of %d MB that wait hold %d MB", prompts, size>>20, held>>20)
	}
}

// exes is an x without an end.
type exes struct{}

func (exes) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// The memory that large prompts leave behind is bounded, in one session and in many.
func TestLargePromptsLeaveLittleBehind(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory")
	}
	const prompts, size, most = 4, 3 << 20, 5 << 20 // larger than what the tail of a log holds
	handler, closeAll := newHandler(t, lightStore{memlog.New()}, nil, nil)
	s := serveStand(t, handler, closeAll)
	text := strings.Repeat("x", size)
	for name, session := range map[string]string{"one session": "c", "a session each": "c%d"} {
		before := heap()
		for i := range prompts {
			id := strings.ReplaceAll(session, "%d", strconv.Itoa(i))
			if status, _, body := s.do("POST", "/api/chat", submit(id, name+strconv.Itoa(i), "hello "+text)); status != 200 || !strings.HasSuffix(body, "data: [DONE]\n\n") {
				t.Fatalf("%d %.200s", status, body)
			}
		}
		if held := heap() - before; held > most {
			t.Errorf("%s: %d prompts of %d MB leave %d MB", name, prompts, size>>20, held>>20)
		}
	}
	runtime.KeepAlive(text)
}
