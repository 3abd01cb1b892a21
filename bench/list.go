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
// store with very many sessions.
func (b *bencher) measureList(ctx context.Context) error {
	for _, name := range b.start.engines() {
		if err := b.readList(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (b *bencher) readList(ctx context.Context, name string) error {
	fmt.Fprintf(os.Stderr, "  filling a list with %d sessions, %s\n", b.scale.listed, name)
	newest := time.Now()
	data, err := b.start.filled(ctx, name, "list", func(store *sqllog.Store) error {
		return fillList(ctx, store, b.scale.listed, newest)
	})
	if err != nil {
		return err
	}
	s, err := b.start.server(ctx, name, data)
	if err != nil {
		return err
	}
	defer s.end()
	mark, err := markAfter(ctx, s, b.scale.listed/2)
	if err != nil {
		return errors.Join(err, s.alive())
	}
	for range listReads {
		for what, path := range map[string]string{listPage: "/api/sessions?limit=100", listFar: "/api/sessions?limit=100&before=" + mark} {
			took, size, err := s.get(ctx, path)
			if err == nil && size < 100*minEntry {
				err = fmt.Errorf("a page of 100 sessions has only %d bytes", size)
			}
			if err != nil {
				return errors.Join(err, s.alive())
			}
			b.figures.add(what, name, milliseconds(took))
		}
	}
	for range b.scale.rounds {
		for what, beside := range map[string]bool{listCalm: false, listBeside: true} {
			firsts, err := b.prompts(ctx, s, beside)
			if err != nil {
				return errors.Join(err, s.alive())
			}
			b.figures.add(what, name, milliseconds(percentile(firsts, 50)))
		}
	}
	return nil
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

// prompts are the times to the first byte of new sessions, with nothing or with readers
// of the list beside.
func (b *bencher) prompts(ctx context.Context, s *server, beside bool) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, b.scale.window)
	defer cancel()
	var f firsts
	var faults [2]error
	var wait sync.WaitGroup
	wait.Go(func() { faults[0] = f.probe(ctx, s) })
	if beside {
		wait.Go(func() {
			faults[1] = every(ctx, listEvery, func() error {
				_, _, err := s.get(ctx, "/api/sessions?limit=100")
				return err
			})
		})
	}
	wait.Wait()
	return f.fresh, errors.Join(faults[:]...)
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
