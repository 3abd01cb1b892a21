package natslog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/eventlog/natslog"
	"github.com/tributary-dev/tributary/trace"
)

// TestAgreesWithMemlog does the same to both stores and reads the same from them.
// Now and then the one on disk is closed and opened.
func TestAgreesWithMemlog(t *testing.T) {
	t.Parallel()
	base, runs := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		dir := filepath.Join(base, fmt.Sprint(runs))
		defer func() { _ = os.RemoveAll(dir) }()
		options := natslog.Options{Dir: dir, MaxPayload: 8 << 10, Sessions: 2}
		ctx := context.Background()
		disk, err := natslog.Open(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = disk.Close() }()
		mem := memlog.New()
		session := rapid.SampledFrom([]string{"a", "b.*", "c >"})
		turn := map[string]int{}
		n := 0
		event := func(t *rapid.T) trace.Event {
			n++
			e := trace.Event{ID: fmt.Sprint(n), Actor: trace.User}
			size := rapid.SampledFrom([]int{0, 1, 30, 5000, 20_000}).Draw(t, "size")
			message := rapid.SampledFrom([]string{"m1", "m2", "with | a bar", strings.Repeat("long ", 600)}).Draw(t, "message")
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				e.Payload = trace.Message{Text: strings.Repeat("m", size)}
			case 1:
				e.Payload = trace.Unknown{UnknownKind: "new", Raw: json.RawMessage("{ \"x\" : [1,  2]}")}
			case 2:
				e.Payload = trace.Prompt{Message: trace.UserMessage{ID: message, Parts: []trace.InputPart{{Type: trace.InputText, Text: strings.Repeat("p", size)}}}}
			case 3:
				e.Payload = trace.Reply{MessageID: message}
			case 4:
				e.Payload = trace.Rewind{To: message}
			default:
				e.Payload = trace.MessageDelta{Delta: strings.Repeat("d", size)}
			}
			return e
		}
		appendBoth := func(t *rapid.T, s, turn string, events []trace.Event) {
			last, err := mem.Append(ctx, s, turn, events)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := disk.Append(ctx, s, turn, events); err != nil || got != last {
				t.Fatalf("append to %s returned %d, %v; want %d", s, got, err, last)
			}
		}
		compare := func(t *rapid.T, s string) {
			last, _ := mem.Last(ctx, s)
			if got, err := disk.Last(ctx, s); err != nil || got != last {
				t.Fatalf("last of %s is %d, %v; want %d", s, got, err, last)
			}
			after := uint64(rapid.IntRange(0, int(last)+1).Draw(t, "after"))
			until := uint64(rapid.IntRange(0, int(last)+1).Draw(t, "until"))
			for what, read := range map[string]func(eventlog.Store) (any, error){
				"after":     func(l eventlog.Store) (any, error) { return all(l.After(ctx, s, after)) },
				"all":       func(l eventlog.Store) (any, error) { return all(l.After(ctx, s, 0)) },
				"wholes":    func(l eventlog.Store) (any, error) { return all(l.Wholes(ctx, s, after, until)) },
				"messages":  func(l eventlog.Store) (any, error) { return all(l.Messages(ctx, s)) },
				"turns":     func(l eventlog.Store) (any, error) { return l.Turns(ctx, s, until, int(after%4)) },
				"all turns": func(l eventlog.Store) (any, error) { return l.Turns(ctx, s, 0, 0) },
			} {
				want, err := read(mem)
				if err != nil {
					t.Fatal(err)
				}
				got, err := read(disk)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("%s of %s, after %d until %d (-memlog +natslog):\n%.2000s", what, s, after, until, d)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				s := session.Draw(t, "session")
				var events []trace.Event
				for range rapid.IntRange(0, 6).Draw(t, "events") {
					events = append(events, event(t))
				}
				name := ""
				if rapid.Bool().Draw(t, "in a turn") {
					name = fmt.Sprintf("%d of %s", turn[s]+rapid.IntRange(0, 1).Draw(t, "turn"), s)
				}
				appendBoth(t, s, name, events)
			},
			"many": func(t *rapid.T) {
				s := session.Draw(t, "session")
				for range rapid.IntRange(1, 40).Draw(t, "appends") {
					appendBoth(t, s, fmt.Sprintf("%d of %s", turn[s], s), []trace.Event{event(t)})
				}
			},
			"stop": func(t *rapid.T) {
				s := session.Draw(t, "session")
				appendBoth(t, s, fmt.Sprintf("%d of %s", turn[s], s), []trace.Event{event(t), {Payload: trace.Stop{Reason: "x"}}})
				turn[s]++
			},
			"delete": func(t *rapid.T) {
				s := session.Draw(t, "session")
				turn[s] += 2
				if err := mem.Delete(ctx, s); err != nil {
					t.Fatal(err)
				}
				if err := disk.Delete(ctx, s); err != nil {
					t.Fatal(err)
				}
			},
			"reopen": func(t *rapid.T) {
				if err := disk.Close(); err != nil {
					t.Fatal(err)
				}
				again, err := natslog.Open(ctx, options)
				if err != nil {
					t.Fatal(err)
				}
				if again.Epoch() != disk.Epoch() {
					t.Fatal("the epoch changed")
				}
				disk = again
				for _, s := range []string{"a", "b.*", "c >"} {
					compare(t, s)
				}
			},
			"read": func(t *rapid.T) { compare(t, session.Draw(t, "session")) },
			"": func(t *rapid.T) {
				if d := disk.Damaged(); len(d) != 0 {
					t.Fatalf("damaged: %v", d)
				}
			},
		})
	})
}

func all[T any](seq iter.Seq2[T, error]) (rs []T, err error) {
	for r, err := range seq {
		if err != nil {
			return nil, err
		}
		rs = append(rs, r)
	}
	return rs, nil
}
