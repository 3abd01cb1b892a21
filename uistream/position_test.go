package uistream_test

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// oneByOne is a turn of which each reading has one record.
type oneByOne struct {
	*feed
	woken chan<- struct{}
}

func (o *oneByOne) Watch(woken chan<- struct{}) (stop func()) {
	o.woken = woken
	return o.feed.Watch(woken)
}

func (o *oneByOne) Records(ctx context.Context, after uint64) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for r, err := range o.feed.Records(ctx, after) {
			yield(r, err)
			break
		}
		o.wake()
	}
}

func (o *oneByOne) Recent(after uint64) ([]trace.Record, bool) {
	records, all := o.feed.Recent(after)
	if o.wake(); len(records) == 1 {
		o.close() // the stop
	}
	return records[:min(1, len(records))], all
}

func (o *oneByOne) wake() {
	select {
	case o.woken <- struct{}{}:
	default:
	}
}

// streamed is the response to a client that reads a turn record by record.
func streamed(t interface{ Fatal(...any) }, o uistream.Options, records []trace.Record, change func(*uistream.Subscription)) string {
	f := newFeed()
	f.records = records
	bc := uistream.NewStreams(uistream.Framing{})
	defer bc.Close()
	s := uistream.NewSubscription("t1", o, uistream.Span{SkipPausesThrough: 1 << 60})
	change(s)
	var r response
	if err := bc.Serve(context.Background(), uistream.NewWriter(&r, bc.Framing().For(o), uistream.Timing{}), s, &oneByOne{feed: f}); err != nil {
		t.Fatal(err)
	}
	return r.text()
}

// joined is the log of a gateway that has died: the texts of open parts are in larger pieces.
func joined(records []trace.Record) (all []trace.Record) {
	for _, r := range records {
		if n := len(all); n > 0 {
			before, was := all[n-1].Payload.(trace.MessageDelta)
			if more, is := r.Payload.(trace.MessageDelta); is && was && before.Part == more.Part && all[n-1].Actor == r.Actor {
				more.Delta = before.Delta + more.Delta
				r.Payload, all = more, all[:n-1]
			}
		}
		all = append(all, r)
	}
	return all
}

// texts are what a stream says in each part, by its id, and how often the part begins and ends.
func texts(t interface{ Fatal(...any) }, stream string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(stream) {
		data, is := strings.CutPrefix(line, "data: {")
		if !is {
			continue
		}
		var c struct{ Type, ID, ToolCallID, Delta string }
		if err := json.Unmarshal([]byte("{"+data), &c); err != nil {
			t.Fatal(err)
		}
		kind, phase, _ := strings.Cut(c.Type, "-")
		switch {
		case strings.HasSuffix(c.Type, "-delta"):
			all[kind+c.ID+c.ToolCallID] += c.Delta
		case kind == "text" || kind == "reasoning":
			all[phase+" of "+kind+c.ID] += "."
		}
	}
	return all
}

// A stream that is cut anywhere, and goes on behind its last position, is the whole stream. So it is where the log has the texts
// that were growing in other pieces.
func TestAStreamGoesOnBehindItsPosition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		records, o := drawTurn(t), drawOptions(t)
		told := streamed(t, o, records, (*uistream.Subscription).TellPositions)
		whole, _, found, rest := uistream.CutPositions([]byte(told))
		whole = append(whole, rest...)
		want := streamed(t, o, records, func(*uistream.Subscription) {})
		if string(whole) != want || !found {
			t.Fatalf("without its positions the stream is\n%s\nand a client gets\n%s", whole, want)
		}
		cut := rapid.IntRange(0, len(told)).Draw(t, "cut")
		got, at, found, _ := uistream.CutPositions([]byte(told[:cut]))
		if !found {
			return
		}
		goesOn := func(s *uistream.Subscription) { s.GoOn(at) }
		if all := string(got) + streamed(t, o, records, goesOn); comment.ReplaceAllString(all, "") != comment.ReplaceAllString(want, "") {
			t.Fatalf("cut at %d, behind %+v, the client has\n%s\nand the uninterrupted one\n%s", cut, at, all, want)
		}
		all := string(got) + streamed(t, o, joined(records), goesOn)
		if have, all := texts(t, all), texts(t, want); !maps.Equal(have, all) {
			t.Fatalf("cut at %d, behind %+v, the client has the texts %v, and the uninterrupted one %v", cut, at, have, all)
		}
	})
}

// The log of a gateway that has died may lack the newest text, which the next gateway then gets once more from the agent, under
// other numbers. The client has each word once.
func TestAStreamHasEachWordOnce(t *testing.T) {
	t.Parallel()
	words := strings.Fields("one two three four five six seven eight nine ten")
	records := write(t, completed(), func(b *trace.Builder) {
		for i, w := range words {
			switch i {
			case 2: // the part of RFC streams is closed, and its next words open it again
				b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "shell", Name: "shell", ToolKind: trace.ToolExecute})
				b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c", Title: "Run it", Options: []trace.PermissionOption{{ID: "yes", Name: "Yes", OptionKind: trace.AllowOnce}}}, trace.ToolCall{})
				_ = b.Resolve(trace.PermissionResponse{RequestID: "r", Outcome: trace.Selected, ChosenOption: "yes", OptionKind: trace.AllowOnce}, nil)
			case 5:
				b.ThoughtDelta("t", "hm")
			}
			b.MessageDelta("a", w+" ")
		}
	})
	for _, o := range []uistream.Options{{}, {RFC: true}} {
		told := streamed(t, o, records, (*uistream.Subscription).TellPositions)
		want := texts(t, told)
		if len(want) < 3 {
			t.Fatalf("texts: %v", want)
		}
		var before uint64
		for cut := range len(told) + 1 {
			got, at, _, _ := uistream.CutPositions([]byte(told[:cut]))
			if at.Seq == before {
				continue
			}
			before = at.Seq
			read := slices.IndexFunc(records, func(r trace.Record) bool { return r.Seq > at.Seq })
			for has := read; has > 2 && trace.Ephemeral(records[has-1].Payload); has-- { // what was durable stays
				later := slices.Clone(records)
				for i := range later[has-1:] {
					later[has-1+i].Seq += 1 << 20
				}
				all := string(got) + streamed(t, o, joined(later), func(s *uistream.Subscription) { s.GoOn(at) })
				if have := texts(t, all); !maps.Equal(have, want) {
					t.Fatalf("cut at %d, with %d records on record, the client has the texts %v, and the uninterrupted one %v", cut, has-1, have, want)
				}
			}
		}
	}
}
