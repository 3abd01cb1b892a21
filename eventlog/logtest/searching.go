package logtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// said are the events of a turn with a prompt and an answer.
func said(id, prompted, answered string) []trace.Event {
	return []trace.Event{prompt(id, prompted), event("a "+id, trace.Message{Part: "p", Role: trace.RoleAssistant, Text: answered}), stop(0)}
}

// found are the sessions that a search finds, the last changed first.
func found(t *testing.T, s eventlog.Store, words string, q eventlog.Query) string {
	t.Helper()
	if behind, is := s.(interface {
		AwaitIndex(ctx context.Context) error
	}); is {
		must(t, behind.AwaitIndex(t.Context()))
	}
	q.Words = eventlog.Words(words)
	var ids []string
	for e, err := range s.List(t.Context(), q) {
		must(t, err)
		ids = append(ids, e.Session)
	}
	return strings.Join(ids, " ")
}

// search checks that a search finds the words of titles, prompts and answers.
func search(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	begin := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	put := func(i int, id, by, title string, events ...trace.Event) {
		t.Helper()
		e := eventlog.Entry{Session: id, CreatedBy: by, Title: title, Updated: begin.Add(time.Duration(i) * time.Second), Doc: []byte("{}")}
		_, err := s.AppendWith(ctx, e, fmt.Sprint("t", i), events)
		must(t, err)
	}
	put(1, "a", "ann", "The parser", said("u1", "Why does the lexer fail?", "It reads cmd/main.go twice.")...)
	put(2, "b", "bob", "Holidays", said("u2", "Où est la forêt? ÉTÉ", "東京 has a park; it costs 12.50 EUR.")...)
	put(3, "c", "ann", "", said("u3", "parse this: {\"lexeme\": \"x\\u0000'; DROP\"}", strings.Repeat("long ", 100_000)+"late")...)
	put(4, "d", "bob", "Empty")
	put(5, "a", "ann", "The parser of Ann", said("u4", "and in summer?", "No.")...)
	for words, want := range map[string]string{
		"parser":         "a",
		"PARS":           "a c",
		"lexer summer":   "a", // of two turns
		"parser lexer":   "a", // of the title and a prompt
		"lex ann":        "a",
		"lexer holidays": "",
		"main":           "a",
		"main.go cmd/":   "a",
		"arser":          "",
		"forêt":          "b",
		"été":            "b",
		"東京":             "b",
		"京":              "b",
		"12 50":          "b",
		"drop '":         "c",
		"long":           "c",
		"late":           "", // behind the part of a text that is searched
		"empty":          "d",
		"none":           "",
		"or and not":     "",
	} {
		if got := found(t, s, words, eventlog.Query{}); got != want {
			t.Errorf("%q finds %q, want %q", words, got, want)
		}
	}
	// A search is a part of a query like the others.
	if got := found(t, s, "parse", eventlog.Query{Before: begin.Add(5 * time.Second)}); got != "c" {
		t.Errorf("the page after the first finds %q", got)
	}
	if got := found(t, s, "pars", eventlog.Query{Person: "ann", Limit: 1}); got != "a" {
		t.Errorf("one session of Ann's: %q", got)
	}
	if got := found(t, s, "pars", eventlog.Query{Person: "bob"}); got != "" {
		t.Errorf("of Bob's: %q", got)
	}
	// A session is found by its title of now, and not at all after its deletion.
	put(6, "d", "bob", "Full")
	if got := found(t, s, "empty", eventlog.Query{}) + found(t, s, "full", eventlog.Query{}); got != "d" {
		t.Errorf("after a change of the title: %q", got)
	}
	must(t, s.Delete(ctx, "a"))
	put(7, "a", "ann", "Another", said("u5", "hello", "hello")...)
	if got := found(t, s, "parser", eventlog.Query{}) + found(t, s, "lexer", eventlog.Query{}); got != "" {
		t.Errorf("after a deletion: %q", got)
	}
	if got := found(t, s, "hello another", eventlog.Query{}); got != "a" {
		t.Errorf("the next life of a session: %q", got)
	}
}

// searchRewound checks that a search does not find what a rewind has removed.
func searchRewound(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	clock := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	add := func(turn string, events ...trace.Event) {
		t.Helper()
		clock = clock.Add(time.Second)
		_, err := s.AppendWith(ctx, eventlog.Entry{Session: "s", Title: "title", Updated: clock, Doc: []byte("{}")}, turn, events)
		must(t, err)
	}
	answer := func(words string) trace.Event {
		return event("answer "+words, trace.Message{Part: words, Role: trace.RoleAssistant, Text: words})
	}
	check := func(what string, want ...string) {
		t.Helper()
		var got []string
		for _, word := range []string{"title", "apple", "plum", "pear", "cherry", "grape", "melon", "fig"} {
			if found(t, s, word, eventlog.Query{}) == "s" {
				got = append(got, word)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q are found, want %q", what, got, want)
		}
	}
	add("t1", prompt("u1", "apple"), answer("plum"))
	add("t2", prompt("u2", "pear")) // waits for the turn before it
	add("t1", answer("cherry"), stop(0))
	add("t2", answer("grape"))
	check("before", "title", "apple", "plum", "pear", "cherry", "grape")
	// An edit of the second prompt: the running turn ends, and what it says at its end goes too.
	add("t2", rewind("u2"), answer("melon"), stop(0))
	add("t3", rewind("u2"), prompt("u2", "fig"))
	check("after an edit", "title", "apple", "plum", "cherry", "fig")
	add("t3", answer("pear"), stop(0))
	check("after the answer", "title", "apple", "plum", "pear", "cherry", "fig")
	// A typed answer in a turn is removed without the beginning of the turn.
	add("t4", prompt("u4", "grape"), answer("grape"), prompt("u5", "melon"), answer("melon"), stop(0))
	add("t5", rewind("u5"))
	check("after a part of a turn", "title", "apple", "plum", "pear", "cherry", "grape", "fig")
	add("t6", rewind("u1"), prompt("u1", "melon"), stop(0))
	check("after an edit of the first prompt", "title", "melon")
	add("t7", rewind("unknown"))
	check("after a rewind to nowhere", "title", "melon")
}

// searchEdited checks that a search finds the newest text of a prompt only.
func searchEdited(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	check := func(what string, want ...string) {
		t.Helper()
		var got []string
		for _, word := range []string{"apple", "plum", "pear", "cherry", "grape", "fig"} {
			if found(t, s, word, eventlog.Query{}) == "s" {
				got = append(got, word)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q are found, want %q", what, got, want)
		}
	}
	add := func(turn string, events ...trace.Event) {
		t.Helper()
		_, err := s.Append(ctx, "s", turn, events)
		must(t, err)
	}
	must(t, s.Put(ctx, eventlog.Entry{Session: "s", Updated: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Doc: []byte("{}")}))
	add("t1", prompt("u1", "apple"))
	add("t2", prompt("u2", "plum"))
	add("t2", prompt("u2", "pear"))
	check("after an edit", "apple", "pear")
	add("t3", prompt("u3", "cherry"), prompt("u3", "grape"))
	check("after a prompt and its edit", "apple", "pear", "grape")
	add("t3", event("prompt u3", trace.Prompt{Message: trace.UserMessage{ID: "u3", Parts: []trace.InputPart{{Type: trace.InputFile, URL: "data:,x"}}}}))
	check("after the removal of the text", "apple", "pear")
	add("t1", prompt("u4", "fig")) // a typed answer
	check("after another message of the turn", "apple", "pear", "fig")
	add("t5", rewind("u2"))
	check("after a rewind", "apple", "fig")
}

// searchTogether checks that a search finds a session by its newest title only, also where the
// store writes several changes at once.
func searchTogether(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for i := range 40 {
		id := fmt.Sprint("s", i)
		put := func(later int, title string) {
			if err := s.Put(ctx, eventlog.Entry{Session: id, Title: title, Updated: at.Add(time.Duration(later) * time.Second), Doc: []byte("{}")}); err != nil {
				t.Error(err)
			}
		}
		put(0, "apple")
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() { put(n+1, []string{"plum", "apple"}[n%2]) })
		}
		if i%2 == 1 {
			all.Go(func() {
				if err := s.Delete(ctx, id); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		want, got := "", ""
		for e, err := range s.List(ctx, eventlog.Query{}) {
			must(t, err)
			if e.Session == id {
				want = e.Title
			}
		}
		for _, word := range []string{"apple", "plum"} {
			if strings.Contains(" "+found(t, s, word, eventlog.Query{})+" ", " "+id+" ") {
				got += word
			}
		}
		if got != want {
			t.Errorf("%s has the title %q, and is found by %q", id, want, got)
		}
	}
}
