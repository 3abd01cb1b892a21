package main

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const stat = "4711 (a name) with (parens)) S 1 4711 4711 0 -1 4194560 1223 0 0 0 123 45 6 7 20 0 9 0 8123 1 2 3"
	if got, err := parseStat(stat); err != nil || got != 1680*time.Millisecond {
		t.Errorf("got %v, %v; want 1.68s", got, err)
	}
	for _, broken := range []string{"", "4711", "4711 (a) S 1 2 3", "4711 (a) S 1 1 1 0 -1 1 1 0 0 0 x 45 6 7"} {
		if got, err := parseStat(broken); err == nil {
			t.Errorf("%q is read as %v", broken, got)
		}
	}
}

func TestParseStatus(t *testing.T) {
	t.Parallel()
	if got, err := parseStatus("Name:\ta\nVmRSS:\t  9999 kB\nRssAnon:\t    5120 kB\nRssFile:\t 4879 kB\n"); err != nil || got != 5<<20 {
		t.Errorf("got %d, %v; want 5 MB", got, err)
	}
	for _, broken := range []string{"", "VmRSS:\t 1 kB\n", "RssAnon:\t many kB\n"} {
		if got, err := parseStatus(broken); err == nil {
			t.Errorf("%q is read as %d", broken, got)
		}
	}
}
