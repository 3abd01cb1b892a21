//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A full disk fails turns, in a sentence, and loses nothing that was said before.
// When there is room again the gateway takes prompts, without a restart; and a
// restart finds all of it.
//
//evidence:for promise-damage
func TestFullDisk(t *testing.T) {
	t.Parallel()
	onSQLite(t)
	for name, fill := range disks(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fullDisk(t, fill)
		})
	}
}

// disk is a directory on a disk that can be filled.
type disk struct {
	dir        string
	fill, free func(*process)
}

// disks are the ways to make writes fail: a limit on the size of the gateway's
// files, and, where this user may mount one, a small disk.
func disks(t *testing.T) map[string]disk {
	t.Helper()
	limit := func(size uint64) func(*process) {
		return func(p *process) {
			p.t.Helper()
			if err := unix.Prlimit(p.PID, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}, nil); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	all := map[string]disk{"files may not grow": {t.TempDir(), limit(1), limit(unix.RLIM_INFINITY)}}
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=48m"); err != nil {
		t.Logf("no small disk here: %v", err)
		return all
	}
	t.Cleanup(func() {
		if err := unix.Unmount(small, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	filler := filepath.Join(small, "filler")
	all["a small disk"] = disk{
		dir: small,
		fill: func(p *process) {
			f, err := os.Create(filler)
			if err != nil {
				p.t.Fatal(err)
			}
			defer f.Close()
			for err == nil { // until it is full
				_, err = f.Write(make([]byte, 4<<10))
			}
		},
		free: func(p *process) {
			if err := os.Remove(filler); err != nil {
				p.t.Fatal(err)
			}
		},
	}
	return all
}

func fullDisk(t *testing.T, d disk) {
	data := filepath.Join(d.dir, "data")
	args := []string{"--agent", "demo", "--cwd", t.TempDir()}
	p := start(t, data, os.Environ(), args...)
	before := p.chat("s", "hello", nil)
	d.fill(p)
	refused := false
	for range 50 { // what is buffered somewhere still gets through
		status, said := p.post("s", "big")
		if refused = status == http.StatusServiceUnavailable; refused {
			if !strings.Contains(said, "its disk or its database needs care") {
				t.Errorf("refused with %q", said)
			}
			break
		}
	}
	if !refused {
		t.Error("prompts are taken though nothing can be written")
	}
	if res := p.request(t.Context(), http.MethodGet, "/readyz", nil); res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("ready while nothing can be written: %s", res.Status)
	}
	if ready, failures := p.metric("tributary_ready"), p.metric("tributary_log_failures_total"); ready != 0 || failures == 0 {
		t.Errorf("the metrics show no failure: ready %v, failed writes %v", ready, failures)
	}
	if history := p.history("s"); len(history) < 2 || history[1].text() != before.text {
		t.Errorf("the history has lost what was said before: %d messages", len(history))
	}
	d.free(p)
	taken := false
	for range 10 {
		var status int
		if status, _ = p.post("s", "hello"); status == http.StatusOK {
			taken = true
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !taken {
		t.Errorf("no prompt is taken though there is room again:\n%s", p.Said())
	}
	p.end()

	p = start(t, data, os.Environ(), args...)
	if history := p.history("s"); len(history) < 4 || history[1].text() != before.text {
		t.Errorf("%d messages after the restart", len(history))
	}
	if s := p.chat("s", "hello", nil); !s.done || s.text != before.text {
		t.Errorf("a turn after the restart: %q", s.text)
	}
	p.end()
}

// metric is the value of a metric without labels.
func (p *process) metric(name string) (value float64) {
	p.t.Helper()
	res := p.request(p.t.Context(), http.MethodGet, "/metrics", nil)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(body), "\n"+name+" ")
	if _, err := fmt.Sscan(rest, &value); err != nil || !found {
		p.t.Fatalf("there is no %s: %v", name, err)
	}
	return value
}
