package run

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/trace"
)

// ResultsFile is the name of the file with a line for each cell.
const ResultsFile = "results.jsonl"

// Results is a directory with the results of cells: results.jsonl, and the records of each cell in
// cells/KEY/trace.jsonl.
type Results struct {
	dir  string
	file *os.File

	mu     sync.Mutex
	newest map[eval.Place]eval.Cell
}

// OpenResults opens a directory of results, and makes it if it is not there. The end of a line that a
// killed run has left is cut off. A directory of something else is refused, and one that
// another run writes to.
func OpenResults(dir string) (*Results, error) {
	name := filepath.Join(dir, ResultsFile)
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
			return nil, fmt.Errorf("%s holds something else, and no %s: name another directory with --out", dir, ResultsFile)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // results are no secret
		return nil, fmt.Errorf("the directory of results cannot be made: %w", err)
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // as above
	if err != nil {
		return nil, fmt.Errorf("the results cannot be opened: %w", err)
	}
	r := &Results{dir: dir, file: f, newest: map[eval.Place]eval.Cell{}}
	if err := r.load(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *Results) load() error {
	switch ok, err := lock(r.file); {
	case err != nil:
		return fmt.Errorf("%s cannot be locked: %w", r.file.Name(), err)
	case !ok:
		return fmt.Errorf("another run writes to %s: wait for it, or name another directory with --out", r.dir)
	}
	cells, whole, err := eval.ReadCells(r.file.Name(), r.file)
	if err != nil {
		return err //nolint:wrapcheck // a sentence
	}
	for _, c := range cells {
		r.newest[c.Place()] = c
	}
	if err := r.file.Truncate(whole); err != nil {
		return fmt.Errorf("the end of %s cannot be cut off: %w", r.file.Name(), err)
	}
	if _, err := r.file.Seek(whole, io.SeekStart); err != nil {
		return fmt.Errorf("%s cannot be written: %w", r.file.Name(), err)
	}
	return nil
}

// Find is the newest result of a cell, if there is one for all that decides what is run.
func (r *Results) Find(c Cell) (found eval.Cell, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found = r.newest[eval.Place{Case: c.Case.Name, Agent: c.Agent, Repeat: c.Repeat}]
	return found, found.Key == c.Key
}

// Of are the newest results of cells, in the order of the cells. They have the rule for rates that
// the cases have now.
func (r *Results) Of(cells []Cell) (found []eval.Cell) {
	for _, c := range cells {
		if one, ok := r.Find(c); ok {
			one.Pass = c.Case.Pass
			found = append(found, one)
		}
	}
	return found
}

// add puts a result on disk.
func (r *Results) add(c eval.Cell) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := eval.WriteCell(r.file, c); err != nil {
		return fmt.Errorf("%s cannot be written: %w", r.file.Name(), err)
	}
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("%s cannot be written: %w", r.file.Name(), err)
	}
	r.newest[c.Place()] = c
	return nil
}

// keep writes the records of a cell, and says where they are in the directory.
func (r *Results) keep(key string, records []trace.Record) (name string, err error) {
	name = path.Join("cells", key, "trace.jsonl")
	full := filepath.Join(r.dir, filepath.FromSlash(name))
	var f *os.File
	if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil { //nolint:gosec // results are no secret
		f, err = os.Create(full)
	}
	if err == nil {
		err = errors.Join(writeRecords(f, records), f.Close())
	}
	if err != nil {
		return "", fmt.Errorf("the records of the run cannot be written: %w", err)
	}
	return name, nil
}

func writeRecords(f *os.File, records []trace.Record) error {
	w := bufio.NewWriter(f)
	for _, one := range records {
		line, err := one.AppendJSON(nil)
		if err != nil {
			return err //nolint:wrapcheck // the caller's sentence says of what
		}
		_, _ = w.Write(append(line, '\n')) // Flush has the error
	}
	return errors.Join(w.Flush(), f.Sync())
}

// Close ends the use of the directory.
func (r *Results) Close() error {
	unlock(r.file)
	return r.file.Close() //nolint:wrapcheck // it has the path
}
