package uistream_test

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// BenchmarkFrame is the way of one token from record to bytes.
func BenchmarkFrame(b *testing.B) {
	records := story(b, 1000, "token ")
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = uistream.AppendTurn(buf[:0], slices.Values(records), uistream.Options{}, uistream.Framing{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(records)), "ns/frame")
}

// BenchmarkHistory reduces a page of a hundred turns.
func BenchmarkHistory(b *testing.B) {
	var records []trace.Record
	for i := range 100 {
		for _, r := range durable(story(b, 50, "some words of text ")) {
			r.Turn = string(rune('A' + i))
			records = append(records, r)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := uistream.History(seq(records), uistream.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// discard is a response whose bytes go nowhere, as a socket would take them.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return io.Discard.Write(p) }
func (d *discard) Flush()                      {}

// BenchmarkFanOut lets a thousand clients follow a turn of a thousand tokens.
func BenchmarkFanOut(b *testing.B) {
	const followers = 1000
	records := story(b, 1000, "token ")
	for b.Loop() {
		bc := uistream.NewStreams(uistream.Framing{})
		f := newFeed(records[:3]...)
		var wait sync.WaitGroup
		for range followers {
			wait.Go(func() {
				w := uistream.NewWriter(&discard{header: http.Header{}}, bc.Framing(), uistream.Timing{})
				if err := bc.Serve(b.Context(), w, uistream.NewSubscription("t1", uistream.Options{}, uistream.Span{}), f); err != nil {
					b.Error(err)
				}
			})
		}
		for _, r := range records[3:] {
			f.add(r)
		}
		wait.Wait()
		bc.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*followers*len(records)), "ns/frame/client")
}

func BenchmarkSafeJSON(b *testing.B) {
	value := []byte(`{"path":"/a/b/c","lines":[1,2,3,4],"text":"package main\n\nfunc main() {\n\tprintln(\"hello, world\")\n}\n"}`)
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		uistream.SafeJSON(value)
	}
}

// BenchmarkWait is a word that comes while its follower waits, but for waking it.
func BenchmarkWait(b *testing.B) {
	w := uistream.NewWriter(&discard{header: http.Header{}}, uistream.Framing{}, uistream.Timing{})
	frame := []byte("data: {}\n\n")
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Frames(frame); err != nil {
			b.Fatal(err)
		}
		w.Wake()
		if err := w.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
