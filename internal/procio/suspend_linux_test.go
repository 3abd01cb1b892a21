package procio_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/procio"
)

// A process that is suspended does nothing, and neither do those that it has started, also in groups of their own.
func TestSuspendedProcessesStandStill(t *testing.T) {
	dir := t.TempDir()
	const counts = `while echo >>"$0"; do sleep 0.01; done` // until the directory is gone
	state := t.TempDir()
	p := start(t, procio.Config{Dir: dir, StateDir: state, Grace: 100 * time.Millisecond}, `setsid sh -c '`+counts+`' own & sh -c '`+counts+`' child & exec sh -c '`+counts+`' leader`)
	sizes := func() (all [3]int64) {
		for i, name := range []string{"own", "child", "leader"} {
			if f, err := os.Stat(filepath.Join(dir, name)); err == nil {
				all[i] = f.Size()
			}
		}
		return all
	}
	grow := func(what string, from [3]int64) {
		t.Helper()
		for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			now := sizes()
			if now[0] > from[0] && now[1] > from[1] && now[2] > from[2] {
				return
			}
			if time.Now().After(until) {
				t.Fatalf("%s: %v, before %v", what, now, from)
			}
		}
	}
	grow("after the start", [3]int64{})
	var s procio.Suspended
	s.Add(state)
	stood := sizes()
	time.Sleep(200 * time.Millisecond) // some twenty lines of each
	if now := sizes(); now != stood {
		t.Errorf("while suspended: %v, before %v", now, stood)
	}
	s.Resume()
	grow("after the end of that", stood)
	s.Add(state)
	if err := p.Close(); err != nil {
		t.Errorf("one that stands still does not end: %v", err)
	}
	stood = sizes()
	s.Resume()
	time.Sleep(100 * time.Millisecond)
	if now := sizes(); now != stood {
		t.Errorf("what an agent has left that was closed meanwhile went on: %v, before %v", now, stood)
	}
}
