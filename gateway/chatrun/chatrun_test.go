package chatrun_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/gateway/chatrun"
)

type source struct{ name string }

type book = chatrun.Book[source]

var key = chatrun.Key{Session: "s", Owner: "ada", Name: "run"}

// chunk is a chunk as the gateway writes it.
func chunk(n int) string {
	return fmt.Sprintf("event: text-delta\ndata: {\"type\":\"text-delta\",\"id\":\"t\",\"delta\":\"%d\"}\n\n", n)
}

func chunks(from, upTo int) string {
	var all strings.Builder
	for n := from; n < upTo; n++ {
		all.WriteString(chunk(n))
	}
	return all.String()
}

// begin makes a run that has had some chunks.
func begin(t *testing.T, b *book, n int) *chatrun.Piece[source] {
	t.Helper()
	p, _ := b.Begin(t.Context(), httptest.NewRecorder(), key)
	p.Follow(&source{"the turn"})
	write(p, ": stream-open\n\n"+chunks(0, n))
	return p
}

// write writes in small pieces, which end anywhere.
func write(p http.ResponseWriter, s string) {
	for s != "" {
		n := min(7, len(s))
		_, _ = p.Write([]byte(s[:n]))
		s = s[n:]
	}
}

func resume(t *testing.T, b *book, n int) *chatrun.Piece[source] {
	t.Helper()
	p, _ := b.Resume(t.Context(), httptest.NewRecorder(), key, n)
	return p
}

func TestTheNextPieceHasTheChunksThatTheClientLacks(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	p := begin(t, b, 5)
	write(p, ": keep-alive\n\n"+chunk(5)[:9]+chunk(5)[9:])
	p.Close()
	for n := range 7 {
		p := resume(t, b, n)
		events, ok := p.From(n)
		if want := chunks(n, 6); !ok || string(events) != want {
			t.Errorf("from %d: %t\n%s\nwant\n%s", n, ok, events, want)
		}
		if s := p.Source(); s == nil || s.name != "the turn" {
			t.Errorf("the source is %v", s)
		}
		p.Close()
	}
	if resume(t, b, 7) != nil {
		t.Error("a client may have a chunk that was never written")
	}
}

func TestAPieceRecordsWhatItsClientDoesNotGet(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	p, ctx := b.Begin(t.Context(), gone{httptest.NewRecorder()}, key)
	p.Follow(&source{})
	if n, err := p.Write([]byte(chunk(0))); n != len(chunk(0)) || err != nil {
		t.Errorf("%d %v", n, err)
	}
	if !errors.Is(context.Cause(ctx), errGone) {
		t.Errorf("the piece goes on: %v", context.Cause(ctx))
	}
	write(p, chunk(1))
	p.Close()
	if events, _ := resume(t, b, 0).From(0); string(events) != chunks(0, 2) {
		t.Errorf("recorded is %s", events)
	}
}

var errGone = errors.New("the client has gone")

type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, errGone }

func TestARunThatHasComeToItsEndHasNoSource(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	p := begin(t, b, 2)
	write(p, "data: [DONE]\n\n")
	p.Close()
	p = resume(t, b, 1)
	defer p.Close()
	if events, ok := p.From(1); !ok || string(events) != chunk(1) || p.Source() != nil {
		t.Errorf("%t %s %v", ok, events, p.Source())
	}
}

// A client that was cut may come back before the gateway notices the cut.
func TestAClientTakesItsOwnPlace(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	first, ctx := b.Begin(t.Context(), httptest.NewRecorder(), key)
	first.Follow(&source{})
	write(first, chunks(0, 3))
	go func() {
		<-ctx.Done()
		write(first, chunk(3)) // the last that it had in hand
		first.Close()
	}()
	p := resume(t, b, 2)
	if events, ok := p.From(2); !ok || string(events) != chunks(2, 4) {
		t.Errorf("%t %s", ok, events)
	}
	p.Close()
}

// stuck is a response to a client that takes nothing.
type stuck struct {
	*httptest.ResponseRecorder
	late chan struct{}
}

func (s stuck) Write([]byte) (int, error) {
	<-s.late
	return 0, os.ErrDeadlineExceeded
}

func (s stuck) SetWriteDeadline(t time.Time) error {
	if !t.After(time.Now()) {
		close(s.late)
	}
	return nil
}

func TestAClientTakesItsOwnPlaceAlsoWhereNothingIsTaken(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	first, _ := b.Begin(t.Context(), stuck{httptest.NewRecorder(), make(chan struct{})}, key)
	first.Follow(&source{})
	writing := make(chan struct{})
	go func() {
		close(writing)
		_, _ = first.Write([]byte(chunks(0, 3)))
		first.Close()
	}()
	<-writing
	for { // until the chunks are recorded
		if _, ok := first.From(3); ok {
			break
		}
		time.Sleep(time.Millisecond)
	}
	w := httptest.NewRecorder()
	p, _ := b.Resume(t.Context(), w, key, 2)
	events, _ := p.From(2)
	p.Repeat(events)
	if w.Body.String() != chunk(2) || !w.Flushed {
		t.Errorf("sent is %s, flushed %t", w.Body, w.Flushed)
	}
	p.Close()
}

// The numbers of two clients mean different chunks, so neither gets those of the other.
func TestARunOfAnotherClientIsNotTaken(t *testing.T) {
	t.Parallel()
	t.Run("two have begun by the same name", func(t *testing.T) {
		t.Parallel()
		b := chatrun.NewBook[source]()
		one, two := begin(t, b, 3), begin(t, b, 3)
		one.Close()
		if resume(t, b, 2) != nil {
			t.Error("one of them gets the run of either")
		}
		two.Close()
	})
	t.Run("one has begun where the other was", func(t *testing.T) {
		t.Parallel()
		b := chatrun.NewBook[source]()
		begin(t, b, 3).Close()
		if p, _ := b.Again(t.Context(), httptest.NewRecorder(), key, func(s *source) bool { return s.name != "the turn" }); p != nil {
			t.Error("a client gets the run of another turn")
		}
		p, _ := b.Again(t.Context(), httptest.NewRecorder(), key, func(s *source) bool { return s.name == "the turn" })
		if p == nil {
			t.Fatal("a client that is loaded anew does not get its run")
		}
		if resume(t, b, 2) != nil {
			t.Error("a client that may be another one takes the run")
		}
		p.Close()
		if p := resume(t, b, 2); p == nil {
			t.Error("a run that no client reads is not found")
		}
	})
	t.Run("another caller, another session", func(t *testing.T) {
		t.Parallel()
		b := chatrun.NewBook[source]()
		begin(t, b, 3).Close()
		for _, k := range []chatrun.Key{{"s", "bob", "run"}, {"t", "ada", "run"}, {"s", "ada", "other"}} {
			if p, _ := b.Resume(t.Context(), httptest.NewRecorder(), k, 1); p != nil {
				t.Errorf("%v finds it", k)
			}
		}
	})
}

//evidence:for limit-run
func TestARunKeepsItsNewestMegabyte(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	p := begin(t, b, 0)
	large := "data: {\"type\":\"" + strings.Repeat("x", 100<<10) + "\"}\n\n"
	for range 20 {
		_, _ = p.Write([]byte(large))
	}
	p.Close()
	if resume(t, b, 9) != nil {
		t.Error("more than a megabyte is kept")
	}
	if p, _ := b.Again(t.Context(), httptest.NewRecorder(), key, func(*source) bool { return true }); p != nil {
		t.Error("a run without its beginning begins again")
	}
	if events, ok := resume(t, b, 15).From(15); !ok || len(events) != 5*len(large) {
		t.Errorf("%t, %d bytes", ok, len(events))
	}
}

//evidence:for limit-run
func TestARunIsKeptForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := chatrun.NewBook[source]()
		p := begin(t, b, 3)
		time.Sleep(time.Hour)
		p.Close()
		time.Sleep(19 * time.Second)
		p = resume(t, b, 3)
		if p == nil {
			t.Fatal("it is gone")
		}
		time.Sleep(time.Hour)
		p.Close()
		time.Sleep(21 * time.Second)
		if resume(t, b, 3) != nil {
			t.Error("it is kept for ever")
		}
	})
}

//evidence:for limit-run
func TestManyRunsAreKeptOnlyToABound(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	name := func(i int) chatrun.Key { return chatrun.Key{Session: "s", Owner: "ada", Name: fmt.Sprint(i)} }
	const many = 1100 // of 64 KB each at least
	for i := range many {
		p, _ := b.Begin(t.Context(), httptest.NewRecorder(), name(i))
		p.Follow(&source{})
		p.Close()
	}
	for i, want := range map[int]bool{0: false, many - 1: true} {
		if p, _ := b.Resume(t.Context(), httptest.NewRecorder(), name(i), 0); (p != nil) != want {
			t.Errorf("run %d: found is %t", i, p != nil)
		}
	}
}

func TestARefusedRequestLeavesNoRun(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	p, _ := b.Begin(t.Context(), httptest.NewRecorder(), key)
	p.WriteHeader(http.StatusConflict)
	write(p, "data: {\"is\":\"no chunk\"}\n\n")
	p.Close()
	if resume(t, b, 0) != nil {
		t.Error("there is one")
	}
}

func TestARunGetsAnotherName(t *testing.T) {
	t.Parallel()
	b := chatrun.NewBook[source]()
	p := begin(t, b, 1)
	b.Rename(p, "whole")
	p.Close()
	if resume(t, b, 1) != nil {
		t.Error("the old name counts")
	}
	if p, _ := b.Resume(t.Context(), httptest.NewRecorder(), chatrun.Key{Session: "s", Owner: "ada", Name: "whole"}, 1); p == nil {
		t.Error("the new name does not count")
	}
}
