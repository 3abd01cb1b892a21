package trace_test

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// appending counts the goroutines of the bubble that append. All goroutines must be blocked at the
// call.
func appending() int {
	stacks := make([]byte, 1<<20)
	bubble := ""
	n := 0
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		head, _, _ := strings.Cut(stack, "\n")
		_, in, _ := strings.Cut(head, "synctest bubble ")
		if bubble == "" {
			bubble = in // the first one is the caller's
		}
		if in == bubble && strings.Contains(stack, "trace.(*queue).run") {
			n++
		}
	}
	return n
}

func TestTheAppendingGoroutineEndsWithTheTurnOrInSilence(t *testing.T) {
	t.Parallel()
	const silence = 2 * time.Second
	for name, end := range map[string]func(*trace.Builder) error{
		"finished":  func(b *trace.Builder) error { return b.Finish(trace.Stop{}) },
		"abandoned": (*trace.Builder).Detach,
		"silent":    func(*trace.Builder) error { time.Sleep(silence); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &slowLog{}
				b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
				for range 10 { // the timer fires amid the appends and between them
					b.MessageDelta("k", "x")
					time.Sleep(1500 * time.Millisecond)
					synctest.Wait()
					if n := appending(); n != 1 {
						t.Fatalf("%d goroutines append while the agent writes", n)
					}
				}
				if err := end(b); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if n := appending(); n != 0 {
					t.Errorf("%d goroutines are left", n)
				}
				if err := b.Finish(trace.Stop{}); err != nil {
					t.Error(err)
				}
				if err := check(l.events); name != "abandoned" && err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Words at every distance from the moment at which the goroutine gives up: each is
// on record, in order, and none is later than the log makes it.
func TestNoWordIsLostAsTheGoroutineGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &tape{}
		b := trace.NewBuilder(t.Context(), trace.Config{Turn: "t", Append: l.append})
		written := 0
		for pause := range 3000 {
			b.MessageDelta("k", "x")
			synctest.Wait()
			if n := len(l.events); n <= written {
				t.Fatalf("after a pause of %d ms a word is not on record", pause)
			}
			written = len(l.events)
			time.Sleep(time.Duration(pause) * time.Millisecond)
		}
		if err := b.Finish(trace.Stop{}); err != nil {
			t.Fatal(err)
		}
		if err := check(l.events); err != nil {
			t.Error(err)
		}
	})
}
