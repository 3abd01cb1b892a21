package web

import (
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
	page, err := read(compiled(), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	var load func(name string)
	load = func(name string) {
		if _, known := sizes[name]; known {
			return
		}
		c, err := read(compiled(), name)
		if err != nil {
			t.Fatal(err)
		}
		sizes[name] = len(c.packed)
		for _, found := range importedByFile.FindAllSubmatch(c.plain(), -1) {
			load(path.Join(path.Dir(name), string(found[1])))
		}
	}
	for _, found := range loadedByPage.FindAllSubmatch(page.plain(), -1) {
		load(string(found[1]))
	}
	total := len(page.packed)
	for name, size := range sizes {
		t.Logf("%7d bytes  %s", size, name)
		total += size
	}
	t.Logf("%7d bytes in all", total)
	if len(sizes) < 2 || total > firstPaint {
		t.Errorf("the first paint takes %d bytes in %d files, compressed; at most %d are allowed", total, len(sizes), firstPaint)
	}
}
