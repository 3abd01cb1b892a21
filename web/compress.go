//go:build ignore

// Compress replaces the files of dist by compressed ones, after the build of the page. Releases show licenses.md beside
// the program, so that file stays.
package main

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	err := filepath.WalkDir("dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "licenses.md" || strings.HasSuffix(name, ".gz") {
			return err
		}
		return replace(name)
	})
	if err != nil {
		log.Fatal(err)
	}
}

// replace compresses a file. The header has no name and no time, so that the same file becomes the same bytes.
func replace(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(name+".gz", packed.Bytes(), 0o644); err != nil {
		return err
	}
	return os.Remove(name)
}
