package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/session"
)

// How often the list is read: for its own time, and beside prompts.
const (
	listReads = 50
	listEvery = 50 * time.Millisecond
)

// measureList is the time of a page of the session list, and of prompts beside it, in a
// store with very many sessions, and the memory that the sessions take.
func (b *bencher) measureList(ctx context.Context) error {
	for _, name := range b.start.engines() {
		few, err := b.withList(ctx, name, "few", 100, b.heapOfList)
		if err != nil {
			return err
		}
		many, err := b.withList(ctx, name, "list", b.scale.listed, b.readList)
		if err != nil {
			return err
		}
		b.figures.add(listHeap, name, (many-few)/1e6)
	}
	return nil
}

// withList measures a gateway on a store with so many sessions.
func (b *bencher) withList(ctx context.Context, name, dir string, sessions int, measure func(context.Context, *server) (float64, error)) (float64, error) {
	fmt.Fprintf(os.Stderr, "  filling a list with %d sessions, %s\n", sessions, name)
	newest := time.Now()
	data, err := b.start.filled(ctx, name, dir, func(store *sqllog.Store) error {
		return fillList(ctx, store, sessions, newest)
	})
	if err != nil {
		return 0, err
	}
	s, err := b.start.server(ctx, name, data)
	if err != nil {
		return 0, err
	}
	defer s.end()
	figure, err := measure(ctx, s)
	if err != nil {
		err = errors.Join(err, s.alive())
	}
	return figure, err
}

// heapOfList is the live heap of a gateway that reads its list, in bytes. The reads go on
// until the garbage collector has run twice, because its last run counts the heap.
func (b *bencher) heapOfList(ctx context.Context, s *server) (heap float64, err error) {
	const collections = "go_gc_duration_seconds_count"
	before, err := s.metric(ctx, collections)
	for now := before; err == nil && now < before+2; now, err = s.metric(ctx, collections) {
		for range listReads {
			if _, err := s.page(ctx, ""); err != nil {
				return 0, err
			}
		}
	}
	if err != nil {
		return 0, err
	}
	return s.metric(ctx, "tributary_heap_live_bytes")
}

// page reads a page of the list.
func (s *server) page(ctx context.Context, more string) (time.Duration, error) {
	took, size, err := s.get(ctx, "/api/sessions?limit=100"+more)
	if err == nil && size < 100*minEntry {
		err = fmt.Errorf("a page of 100 sessions has only %d bytes", size)
	}
	return took, err
}

func (b *bencher) readList(ctx context.Context, s *server) (heap float64, err error) {
	if heap, err = b.heapOfList(ctx, s); err != nil {
		return 0, err
	}
	mark, err := markAfter(ctx, s, b.scale.listed/2)
	if err != nil {
		return 0, err
	}
	var near []time.Duration
	for range listReads {
		for what, more := range map[string]string{listPage: "", listFar: "&before=" + mark} {
			took, err := s.page(ctx, more)
			if err != nil {
				return 0, err
			}
			b.figures.add(what, s.name, milliseconds(took))
			if what == listPage {
				near = append(near, took)
			}
		}
	}
	b.figures.add(listPage99, s.name, milliseconds(percentile(near, 99)))
	for range b.scale.rounds {
		for what, beside := range map[string]func(context.Context, *server) error{listCalm: nothing, listBeside: readPages, listOpen: openLists} {
			firsts, err := b.prompts(ctx, s, beside)
			if err != nil {
				return 0, err
			}
			b.figures.add(what, s.name, milliseconds(percentile(firsts, 50)))
		}
	}
	return heap, nil
}

// markAfter is where the list goes on after about so many sessions.
func markAfter(ctx context.Context, s *server, sessions int) (mark string, err error) {
	const most = 1000
	path := fmt.Sprintf("/api/sessions?limit=%d", most)
	for seen := 0; seen < sessions; seen += most {
		from := path
		if mark != "" {
			from += "&before=" + mark
		}
		res, err := s.request(ctx, http.MethodGet, from, nil)
		if err != nil {
			return "", err
		}
		_ = res.Body.Close()
		_, rest, ok := strings.Cut(res.Header.Get("Link"), "before=")
		if !ok {
			return "", fmt.Errorf("the list ends after %d sessions: %q", seen, res.Header.Get("Link"))
		}
		mark = rest[:strings.IndexAny(rest+"&", "&>")]
	}
	return mark, nil
}

// minEntry is how many bytes a session has at least in a page of the list.
const minEntry = 50

// prompts are the times to the first byte of new sessions, beside something else.
func (b *bencher) prompts(ctx context.Context, s *server, beside func(context.Context, *server) error) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, b.scale.window)
	defer cancel()
	var f firsts
	var faults [2]error
	var wait sync.WaitGroup
	wait.Go(func() { faults[0] = f.probe(ctx, s) })
	wait.Go(func() { faults[1] = beside(ctx, s) })
	wait.Wait()
	return f.fresh, errors.Join(faults[:]...)
}

func nothing(context.Context, *server) error { return nil }

// readPages reads pages of the list, one after another.
func readPages(ctx context.Context, s *server) error {
	return every(ctx, listEvery, func() error {
		_, err := s.page(ctx, "")
		return err
	})
}

// openLists has the list pushed to many clients.
func openLists(ctx context.Context, s *server) error {
	const clients = 100
	var wait sync.WaitGroup
	faults := make([]error, clients)
	for i := range clients {
		wait.Go(func() {
			if _, _, err := s.get(ctx, "/api/events"); ctx.Err() == nil {
				faults[i] = errors.Join(errors.New("a list that is pushed has ended"), err)
			}
		})
	}
	wait.Wait()
	return errors.Join(faults...)
}

// fillList puts sessions into the registry, each a second older than the one before.
func fillList(ctx context.Context, store *sqllog.Store, sessions int, newest time.Time) error {
	const writers = 64
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := w; i < sessions && ctx.Err() == nil; i += writers {
				info := session.Info{ID: fmt.Sprintf("listed-%d", i), Title: fmt.Sprintf("What is in directory %d?", i)}
				if err := enlist(ctx, store, info, newest.Add(-time.Duration(i)*time.Second)); err != nil {
					cancel(err)
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}
