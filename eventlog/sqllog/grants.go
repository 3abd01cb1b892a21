package sqllog

import (
	"context"
	"database/sql"
)

// This file keeps grants. Its rows have no checksums: a damaged document is no JSON, and allows nothing.

// AddGrant implements eventlog.Grants.
func (s *Store) AddGrant(ctx context.Context, agent, id string, doc []byte, most int) error {
	return s.submit(ctx, &op{do: func(ctx context.Context, tx *sql.Tx) error {
		_, err := s.db.exec(ctx, tx, `INSERT INTO grants (id, agent, doc) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, column(id), column(agent), column(string(doc)))
		if err != nil {
			return err
		}
		_, err = s.db.exec(ctx, tx, `DELETE FROM grants WHERE agent = $1 AND id NOT IN (SELECT g.id FROM grants g WHERE g.agent = $1 ORDER BY g.id DESC LIMIT $2)`, column(agent), most)
		return err
	}})
}

// Grants implements eventlog.Grants.
func (s *Store) Grants(ctx context.Context, agent string) (docs [][]byte, err error) {
	err = s.read(ctx, func(ctx context.Context) error {
		docs = nil
		return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
			var doc str
			err := scan(&doc)
			docs = append(docs, []byte(doc))
			return err
		}, `SELECT doc FROM grants WHERE agent = $1 ORDER BY id`, column(agent))
	})
	return docs, err
}

// RemoveGrant implements eventlog.Grants.
func (s *Store) RemoveGrant(ctx context.Context, agent, id string) (there bool, err error) {
	err = s.submit(ctx, &op{do: func(ctx context.Context, tx *sql.Tx) error {
		n, err := s.db.exec(ctx, tx, `DELETE FROM grants WHERE agent = $1 AND id = $2`, column(agent), column(id))
		there = n > 0
		return err
	}})
	return there && err == nil, err
}
