package session_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// onDisk is a store that holds long texts in no memory: it yields them as they were.
type onDisk struct{ eventlog.Store }

const longText = 4 << 20

func (s onDisk) Append(ctx context.Context, session, turn string, events []trace.Event) (uint64, error) {
	return s.Store.Append(ctx, session, turn, shortened(events))
}

func (s onDisk) AppendWith(ctx context.Context, e eventlog.Entry, turn string, events []trace.Event) (uint64, error) {
	return s.Store.AppendWith(ctx, e, turn, shortened(events))
}

func shortened(events []trace.Event) []trace.Event {
	kept := make([]trace.Event, len(events))
	for i, e := range events {
		if p, is := e.Payload.(trace.Prompt); is && len(p.Message.Parts[0].Text) == longText {
			p.Message = text(p.Message.ID, "disk "+p.Message.Parts[0].Text[:1])
			e.Payload = p
		}
		if m, is := e.Payload.(trace.Message); is && len(m.Text) == longText {
			m.Text = "disk"
			e.Payload = m
		}
		if stop, is := e.Payload.(trace.Stop); is {
			stop.FinalOutput = ""
			e.Payload = stop
		}
		if d, is := e.Payload.(trace.MessageDelta); is {
			d.Delta = "disk"
			e.Payload = d
		}
		kept[i] = e
	}
	return kept
}

func (s onDisk) Durable(ctx context.Context, session string, after, until uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for r, err := range s.Store.Durable(ctx, session, after, until) {
			if p, is := r.Payload.(trace.Prompt); is && strings.HasPrefix(p.Message.Parts[0].Text, "disk ") {
				p.Message = text(p.Message.ID, strings.Repeat(p.Message.Parts[0].Text[5:], longText))
				r.Payload = p
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestPromptsCostNoMemoryWhileTheyWaitOrWhenTheyHaveRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := make(chan struct{})
		var got []string
		log := eventlog.New(onDisk{memlog.New()})
		b := benchOn(t, log, with(t, scripted{prompt: func(_ context.Context, _ agent.Host, p agent.Prompt, b *trace.Builder) error {
			<-next
			text := p.Text()
			got = append(got, fmt.Sprintf("%s %d %s", p.Message.ID, len(text), text[:1]))
			b.Message("1", strings.Repeat("m", longText))
			return nil
		}}))
		defer b.close()
		const prompts = 12
		before := heap()
		var turns []session.Turn
		for i := range prompts {
			turns = append(turns, b.say(fmt.Sprint("u", i), strings.Repeat(string(rune('a'+i)), longText)))
		}
		synctest.Wait()
		if waiting := heap() - before; waiting > 3*longText {
			t.Errorf("%d prompts that wait hold %d MB", prompts, waiting>>20)
		}
		close(next)
		b.wait(turns[prompts-1])
		synctest.Wait()
		if ended := heap() - before; ended > longText {
			t.Errorf("turns that have ended hold %d MB", ended>>20)
		}
		for i, p := range got {
			if want := fmt.Sprintf("u%d %d %c", i, longText, 'a'+i); p != want {
				t.Errorf("the agent got %q, want %q", p, want)
			}
		}
	})
}
