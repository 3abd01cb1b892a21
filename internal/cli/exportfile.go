package cli

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/export/atif"
)

// This file puts exports into files. A file is there only when it is complete.

// together reports whether sessions in this format can stand one behind the other.
func (c *exportCommand) together() bool {
	return c.Format == "trace" || strings.HasPrefix(c.Format, "otlp")
}

// directory is the directory for a file of each session, or "" for one output.
func (c *exportCommand) directory(several bool) (string, error) {
	info, err := os.Stat(c.Output)
	switch {
	case c.Output == "" && several && !c.together():
		return "", usage("several sessions as %s need a file each: name a directory with -o DIR", c.Format)
	case c.Output == "":
		return "", nil
	case err == nil && info.IsDir(), strings.HasSuffix(c.Output, string(filepath.Separator)), several && !c.together():
		if err := os.MkdirAll(c.Output, 0o750); err != nil {
			return "", fmt.Errorf("the directory %s cannot be made: %w", c.Output, reason(err))
		}
		return c.Output, nil
	}
	return "", nil
}

// each exports the sessions. One in which nothing was said is left out; if there is no other, that is the
// error.
func (c *exportCommand) each(p *program, ids []string, one func(id string) error) error {
	done := 0
	for _, id := range ids {
		switch err := one(id); {
		case err == nil:
			done++
		case !errors.Is(err, atif.ErrNothing) || len(ids) == 1:
			return err
		default:
			why := "no turn of it has ended"
			if c.Turn != nil {
				why = "it has no such turn that has ended"
			}
			fmt.Fprintf(p.stderr, "tributary: the session %s is left out: %s\n", oneParagraph(id), why)
		}
	}
	if done == 0 {
		return atif.Nothing(value(c.Turn))
	}
	return nil
}

// write writes each session to where it belongs.
func (c *exportCommand) write(p *program, dir string, ids []string, one func(id string, w io.Writer, path string) error) error {
	all := func(w io.Writer) error {
		return c.each(p, ids, func(id string) error {
			if dir == "" {
				return one(id, w, c.Output)
			}
			path := filepath.Join(dir, fileOf(id)+c.extension())
			return whole(path, func(w io.Writer) error { return one(id, w, path) })
		})
	}
	if dir == "" && c.Output != "" {
		return whole(c.Output, all)
	}
	return all(p.stdout)
}

func (c *exportCommand) extension() string {
	return map[string]string{"trace": ".jsonl", "markdown": ".md", "json": ".json", "atif": ".atif.json", "otlp": ".otlp.jsonl", "otlp-protobuf": ".otlp.pb"}[c.Format]
}

// fileOf is the id of a session as the name of a file. Ids that the file system may not tell
// apart keep a part of their hash.
func fileOf(id string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLower(r) || unicode.IsDigit(r) || strings.ContainsRune(".-_", r) {
			return r
		}
		return '-'
	}, id)
	if name != id || strings.HasPrefix(name, ".") {
		name = fmt.Sprintf("%s-%.4x", strings.TrimLeft(name, "."), sha256.Sum256([]byte(id)))
	}
	return name
}

// whole writes a file beside its place, and puts it there when it is complete.
func whole(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".export-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, reason(err))
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has been moved, or nobody wants it
	err = write(f)
	if closed := f.Close(); err == nil && closed != nil {
		err = fmt.Errorf("%s cannot be written: %w", path, reason(closed))
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, reason(err))
	}
	return nil
}

// mediaBeside keeps pictures in the directory images beside a file, under their hash; nil for
// standard output.
func mediaBeside(path string) func(mediaType string, data []byte) (string, error) {
	if path == "" {
		return nil
	}
	return func(mediaType string, data []byte) (string, error) {
		_, format, _ := strings.Cut(mediaType, "/")
		name := fmt.Sprintf("images/%x.%s", sha256.Sum256(data), fileOf(format))
		file := filepath.Join(filepath.Dir(path), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return "", fmt.Errorf("%s cannot be made: %w", filepath.Dir(file), reason(err))
		}
		return name, whole(file, func(w io.Writer) error {
			_, err := w.Write(data)
			return err //nolint:wrapcheck // whole names the file
		})
	}
}
