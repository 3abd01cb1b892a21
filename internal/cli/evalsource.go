package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/eval/run"
	"github.com/tributary-dev/tributary/export/atif"
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

// sessionsIn reads a file with a trajectory, or with the records of one session or of several.
func sessionsIn(ctx context.Context, name string) (found []*eval.Session, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, usage("%s cannot be read: %w", name, reason(err))
	}
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
		err = atif.Read(ctx, bytes.NewReader(data), keep)
		if err != nil {
			return nil, usage("%s: %w", name, err)
		}
	} else if err = recordLines(name, data, keep); err != nil {
		return nil, err
	}
	if len(order) == 0 {
		return nil, usage("%s has no records: write a file of `tributary export` or `tributary run --json`", name)
	}
	for _, id := range order {
		s, err := eval.Read(func() iter.Seq2[trace.Record, error] {
			return func(yield func(trace.Record, error) bool) {
				for _, r := range records[id] {
					if !yield(r, nil) {
						return
					}
				}
			}
		})
		if err != nil {
			return nil, err //nolint:wrapcheck // there is none
		}
		s.ID = id
		found = append(found, s)
	}
	return found, nil
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
			return nil, err
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
	in := bufio.NewReader(bytes.NewReader(data))
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var r trace.Record
			if json.Unmarshal(line, &r) != nil || r.Payload == nil {
				return usage("%s:%d: this is no record of a trace, and the file is no trajectory in ATIF", name, n)
			}
			if err := keep(r); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}
