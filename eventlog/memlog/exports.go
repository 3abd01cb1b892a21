package memlog

import (
	"cmp"
	"context"
	"slices"

	"github.com/tributary-dev/tributary/eventlog"
)

// AddExporter implements eventlog.Exports.
func (s *Store) AddExporter(ctx context.Context, exporter string, backfill bool) error {
	return s.whileOpen(ctx, &s.mu, func() {
		if s.exports[exporter] != nil {
			return
		}
		s.exports[exporter] = map[string]uint64{}
		for id, se := range s.sessions {
			if !backfill && slices.ContainsFunc(se.turns, func(t eventlog.TurnMark) bool { return t.Last > 0 }) {
				s.exports[exporter][id] = se.last
			}
		}
	})
}

// unsent are the turns of a session that wait, by their ends. The caller holds the lock.
func (s *Store) unsent(exporter, id string) (turns []eventlog.TurnMark) {
	se := s.sessions[id]
	if se == nil || s.docs[id] == nil {
		return nil
	}
	for _, t := range se.turns {
		if t.Last > s.exports[exporter][id] {
			turns = append(turns, t)
		}
	}
	slices.SortFunc(turns, func(a, b eventlog.TurnMark) int { return cmp.Compare(a.Last, b.Last) })
	return turns
}

// Unsent implements eventlog.Exports.
func (s *Store) Unsent(ctx context.Context, exporter string, q eventlog.UnsentQuery) (all []eventlog.UnsentSession, err error) {
	order := func(a, b eventlog.UnsentSession) int {
		return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.Session, b.Session))
	}
	err = s.whileOpen(ctx, &s.mu, func() {
		for id, e := range s.docs {
			one := eventlog.UnsentSession{Session: id, Updated: e.Updated}
			if order(one, q.After) > 0 && (len(q.Agents) == 0 || slices.Contains(q.Agents, e.Agent)) && len(s.unsent(exporter, id)) > 0 {
				all = append(all, one)
			}
		}
	})
	slices.SortFunc(all, order)
	return all[:min(len(all), q.Limit)], err
}

// NextUnsent implements eventlog.Exports.
func (s *Store) NextUnsent(ctx context.Context, exporter, id string, agents []string) (t eventlog.UnsentTurn, ok bool, err error) {
	err = s.whileOpen(ctx, &s.mu, func() {
		if turns := s.unsent(exporter, id); len(turns) > 0 && (len(agents) == 0 || slices.Contains(agents, s.docs[id].Agent)) {
			t, ok = eventlog.UnsentTurn{TurnMark: turns[0], Agent: s.docs[id].Agent, Position: s.exports[exporter][id]}, true
		}
	})
	return t, ok, err
}

// Sent implements eventlog.Exports.
func (s *Store) Sent(ctx context.Context, exporter, id string, stop uint64) error {
	return s.whileOpen(ctx, &s.mu, func() {
		if s.exports[exporter] == nil {
			s.exports[exporter] = map[string]uint64{}
		}
		if slices.ContainsFunc(s.unsent(exporter, id), func(t eventlog.TurnMark) bool { return t.Last == stop }) {
			s.exports[exporter][id] = stop
		}
	})
}

// Position implements eventlog.Exports.
func (s *Store) Position(ctx context.Context, exporter, id string, agents []string) (stop uint64, ok bool, err error) {
	err = s.whileOpen(ctx, &s.mu, func() {
		if e := s.docs[id]; e != nil && (len(agents) == 0 || slices.Contains(agents, e.Agent)) {
			stop, ok = s.exports[exporter][id], true
		}
	})
	return stop, ok, err
}

// CountUnsent implements eventlog.Exports.
func (s *Store) CountUnsent(ctx context.Context, exporter string, agents []string) (n int, err error) {
	err = s.whileOpen(ctx, &s.mu, func() {
		for id, e := range s.docs {
			if len(agents) == 0 || slices.Contains(agents, e.Agent) {
				n += len(s.unsent(exporter, id))
			}
		}
	})
	return n, err
}
