package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// measureLog is how much larger the log is after a turn of 10,000 words of prose. The
// gateway ends before each look, so that SQLite has moved all of it into the database.
func (b *bencher) measureLog(ctx context.Context) error {
	for _, name := range b.start.engines() {
		data, err := os.MkdirTemp(b.start.dir, "log")
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "  %d turns, %s\n", b.scale.logged, name)
		if err := b.runTurns(ctx, name, data, 1); err != nil { // all tables and indexes have their first pages
			return err
		}
		before, err := b.start.logSize(ctx, name, data)
		if err != nil {
			return err
		}
		if err := b.runTurns(ctx, name, data, b.scale.logged); err != nil {
			return err
		}
		after, err := b.start.logSize(ctx, name, data)
		if err != nil {
			return err
		}
		b.figures.add(logBytes, name, float64(after-before)/float64(b.scale.logged)/1e6)
	}
	return nil
}

// runTurns runs a gateway for some turns, each in a session of its own.
func (b *bencher) runTurns(ctx context.Context, name, data string, turns int) error {
	s, err := b.start.server(ctx, name, data)
	if err != nil {
		return err
	}
	defer s.end()
	for range turns {
		if _, err := s.chat(ctx, request{session: newSession(), words: endless, pace: time.Millisecond, prose: true}); err != nil {
			return err
		}
	}
	return nil
}

// logSize is how large the database of a gateway is that has ended, in bytes.
func (s starter) logSize(ctx context.Context, name, data string) (size int64, err error) {
	if name != onPostgres {
		info, err := os.Stat(filepath.Join(data, "tributary.db"))
		if err != nil {
			return 0, fmt.Errorf("look at the database: %w", err)
		}
		return info.Size(), nil
	}
	url, err := s.database(data)
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("pgx", url)
	if err != nil {
		return 0, fmt.Errorf("look at the database: %w", err)
	}
	defer db.Close()
	if err := db.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&size); err != nil {
		return 0, fmt.Errorf("look at the size of the database: %w", err)
	}
	return size, nil
}
