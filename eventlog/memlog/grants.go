package memlog

import (
	"cmp"
	"context"
	"slices"
)

// grant is a document of a grant.
type grant struct {
	agent, id string
	doc       []byte
}

// AddGrant implements eventlog.Grants.
func (s *Store) AddGrant(ctx context.Context, agent, id string, doc []byte, most int) error {
	return s.whileOpen(ctx, &s.mu, func() {
		if slices.ContainsFunc(s.grants, func(g grant) bool { return g.id == id }) {
			return
		}
		s.grants = append(s.grants, grant{agent, id, slices.Clone(doc)})
		slices.SortFunc(s.grants, func(a, b grant) int { return cmp.Compare(a.id, b.id) })
		over := -most
		for _, g := range s.grants {
			if g.agent == agent {
				over++
			}
		}
		s.grants = slices.DeleteFunc(s.grants, func(g grant) bool {
			if g.agent != agent || over <= 0 {
				return false
			}
			over--
			return true
		})
	})
}

// Grants implements eventlog.Grants.
func (s *Store) Grants(ctx context.Context, agent string) (docs [][]byte, err error) {
	err = s.whileOpen(ctx, &s.mu, func() {
		for _, g := range s.grants {
			if g.agent == agent {
				docs = append(docs, slices.Clone(g.doc))
			}
		}
	})
	return docs, err
}

// RemoveGrant implements eventlog.Grants.
func (s *Store) RemoveGrant(ctx context.Context, agent, id string) (there bool, err error) {
	err = s.whileOpen(ctx, &s.mu, func() {
		n := len(s.grants)
		s.grants = slices.DeleteFunc(s.grants, func(g grant) bool { return g.agent == agent && g.id == id })
		there = len(s.grants) < n
	})
	return there, err
}
