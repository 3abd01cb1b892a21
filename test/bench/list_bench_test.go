package main_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/session"
)

// BenchmarkList is a page of 100 sessions among 10,000, and their count.
func BenchmarkList(b *testing.B) {
	store, err := sqllog.Open(b.Context(), sqllog.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	log := eventlog.New(store)
	defer log.Close()
	for i := range 10_000 {
		doc, err := json.Marshal(session.Info{ID: fmt.Sprint("s", i), Agent: "echo", Title: "What is in this directory?", UpdatedAt: time.Unix(int64(i), 0)})
		if err == nil {
			err = log.Put(b.Context(), eventlog.Entry{Session: fmt.Sprint("s", i), Updated: time.Unix(int64(i), 0), Doc: doc})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	h, err := session.New(b.Context(), session.Options{Log: log, Default: "echo", Agents: map[string]session.Agent{"echo": {Runtime: echo.Runtime{}}}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = h.Close(b.Context()) }()
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if all, next, err := h.List(b.Context(), session.Selection{}, 0, 100); err != nil || len(all) != 100 || next == 0 {
				b.Fatal(len(all), next, err)
			}
		}
	})
	b.Run("count", func(b *testing.B) {
		for b.Loop() {
			if n, err := h.Count(b.Context()); n != 10_000 || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}
