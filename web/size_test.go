package web

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"regexp"
	"testing"
)

// firstPaint bounds what a browser loads before it draws the first conversation, compressed.
const firstPaint = 250_000

var (
	loadedByPage   = regexp.MustCompile(`(?:src|href)="/?([^"]+\.(?:js|css))"`)
	importedByFile = regexp.MustCompile(`(?:from|import)"\./([^"]+\.js)"`)
)

func TestTheFirstPaintIsSmall(t *testing.T) {
	t.Parallel()
	page, err := fs.ReadFile(dist, "dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	var load func(name string)
	load = func(name string) {
		if _, known := sizes[name]; known {
			return
		}
		content, err := fs.ReadFile(dist, path.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = compressed(t, content)
		for _, found := range importedByFile.FindAllSubmatch(content, -1) {
			load(path.Join(path.Dir(name), string(found[1])))
		}
	}
	for _, found := range loadedByPage.FindAllSubmatch(page, -1) {
		load(string(found[1]))
	}
	total := compressed(t, page)
	for name, size := range sizes {
		t.Logf("%7d bytes  %s", size, name)
		total += size
	}
	t.Logf("%7d bytes in all", total)
	if len(sizes) < 2 || total > firstPaint {
		t.Errorf("the first paint takes %d bytes in %d files, compressed; at most %d are allowed", total, len(sizes), firstPaint)
	}
}

func compressed(t *testing.T, content []byte) int {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}
