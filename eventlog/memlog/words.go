package memlog

import (
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file searches. A search reads the records of all sessions.

// has reports whether each word begins a word of the session. The caller holds the lock.
func (s *Store) has(e *eventlog.Entry, words []string) bool {
	said := eventlog.Words(e.Title)
	if se := s.sessions[e.Session]; se != nil {
		for _, r := range se.texts() {
			said = append(said, eventlog.Words(eventlog.SearchedText(r.Payload))...)
		}
	}
	for _, w := range words {
		if !slices.ContainsFunc(said, func(of string) bool { return strings.HasPrefix(of, w) }) {
			return false
		}
	}
	return true
}

// texts are the records with text that no rewind has removed from the history.
func (se *session) texts() (texts []trace.Record) {
	first := map[string]uint64{} // the beginnings of turns
	for _, t := range se.turns {
		first[t.Turn] = t.First
	}
	for i, r := range se.records {
		if back, is := r.Payload.(trace.Rewind); is {
			for _, to := range slices.Backward(se.records[:i]) { // an edited message has several prompts: the newest counts
				if p, is := to.Payload.(trace.Prompt); !is || p.Message.ID != back.To {
					continue
				}
				texts = slices.DeleteFunc(texts, func(t trace.Record) bool {
					return t.Turn == to.Turn && t.Seq >= to.Seq || first[t.Turn] > first[to.Turn]
				})
				break
			}
		}
		if p, is := r.Payload.(trace.Prompt); is { // an edited prompt has several texts: the newest counts
			texts = slices.DeleteFunc(texts, func(t trace.Record) bool {
				earlier, is := t.Payload.(trace.Prompt)
				return is && t.Turn == r.Turn && earlier.Message.ID == p.Message.ID
			})
		}
		if eventlog.SearchedText(r.Payload) != "" {
			texts = append(texts, r)
		}
	}
	return texts
}
