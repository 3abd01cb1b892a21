package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/run"
	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file reads sessions that are judged.

// pathLike reports whether an argument that is no file was meant as one.
func pathLike(source string) bool {
	return strings.ContainsRune(source, '/') || strings.ContainsRune(source, filepath.Separator) ||
		strings.HasSuffix(source, ".json") || strings.HasSuffix(source, ".jsonl")
}

// remote reads a session of a running gateway.
func (c *evalGradeCommand) remote(ctx context.Context, id string) (found []*eval.Session, err error) {
	err = c.using(func(g remote) error {
		info, err := g.session(ctx, id)
		if err != nil {
			return err
		}
		s, err := eval.Read(func() iter.Seq2[trace.Record, error] { return g.history(ctx, id) })
		if err != nil {
			return err //nolint:wrapcheck // a sentence
		}
		s.ID, s.Agent.Name = id, cmp.Or(s.Agent.Name, info.Agent)
		found = []*eval.Session{s}
		return nil
	})
	return found, err
}

// sessionsIn reads a file with a trajectory, or with the records of one session or of several. The
// error is of those sessions that are not there.
func sessionsIn(ctx context.Context, name string) (found []*eval.Session, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usage("%s cannot be read: %w", name, reason(err))
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var order []string
	records := map[string][]trace.Record{}
	keep := func(r trace.Record) error {
		if records[r.Session] == nil {
			order = append(order, r.Session)
		}
		records[r.Session] = append(records[r.Session], r)
		return nil
	}
	var head struct {
		SchemaVersion string `json:"schema_version"`
	}
	if json.Unmarshal(data, &head) == nil && head.SchemaVersion != "" {
		if err = atif.Read(ctx, bytes.NewReader(data), keep); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	} else {
		err = recordLines(name, data, keep)
	}
	switch {
	case err != nil:
		return nil, usage("%w", err)
	case len(order) == 0:
		return nil, usage("%s has no records: write a file of `tributary export` or `tributary run --json`", name)
	}
	var wrong error
	for _, id := range order {
		ordered, err := reader.Ordered(records[id])
		if err != nil {
			wrong = cmp.Or(wrong, usage("%s: the session %s: %w", name, oneLine(id), err))
			continue
		}
		s, err := eval.Read(reader.Kept(ordered))
		if err != nil {
			return nil, err //nolint:wrapcheck // there is none
		}
		s.ID = id
		found = append(found, s)
	}
	return found, wrong
}

// resultsOf is the only source if that is a directory of results, else "".
func resultsOf(sources []string) string {
	if len(sources) == 1 {
		if info, err := os.Stat(sources[0]); err == nil && info.IsDir() {
			return sources[0]
		}
	}
	return ""
}

// cellsIn reads the results in a directory, or in their file. Of each run the newest counts.
func cellsIn(source string) (cells []eval.Cell, dir string, err error) {
	dir, name := filepath.Dir(source), source
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		dir, name = source, filepath.Join(source, run.ResultsFile)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, "", usage("%s cannot be read: %w: name the results of `tributary eval run`", name, reason(err))
	}
	defer f.Close()
	if cells, _, err = eval.ReadCells(name, f); err != nil {
		return nil, "", usage("%w", err)
	}
	return eval.Newest(cells), dir, nil
}

// sessionsOfRun reads the traces of all runs in a directory of results.
func sessionsOfRun(ctx context.Context, source string) (all []judged, err error) {
	cells, dir, err := cellsIn(source)
	if err != nil {
		return nil, err
	}
	for _, c := range cells {
		if c.Trace == "" {
			all = append(all, judged{source: dir, of: c.Case, result: c.Result()})
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(c.Trace))
		found, err := sessionsIn(ctx, name)
		if err != nil {
			one := unread(name, err)
			one.of = c.Case
			all = append(all, one)
		}
		for _, s := range found {
			s.ID, s.Agent.Name = fmt.Sprintf("%s #%d", c.Agent, c.Repeat), c.Agent
			all = append(all, judged{source: name, session: s, of: c.Case})
		}
	}
	return all, nil
}

// recordLines reads records, one a line.
func recordLines(name string, data []byte, keep func(trace.Record) error) error {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var r trace.Record
		err := json.Unmarshal(line, &r)
		if err == nil && r.Payload == nil {
			err = errors.New("it is empty")
		}
		if err != nil {
			return fmt.Errorf("%s:%d: this is no record of a trace, and the file is no trajectory in ATIF: %w", name, n, quote.JSONError(err))
		}
		if err := keep(r); err != nil {
			return err
		}
	}
	return nil
}
