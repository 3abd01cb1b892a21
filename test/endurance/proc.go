package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// footprint is the resources that a gateway holds.
type footprint struct {
	goroutines, files, children int
	heap, resident              int // bytes
}

const mega = 1 << 20

func (f footprint) String() string {
	return fmt.Sprintf("%d goroutines, %d files, %d child processes, %.1f MB live heap, %.1f MB resident",
		f.goroutines, f.files, f.children, float64(f.heap)/mega, float64(f.resident)/mega)
}

// heapSlack is the growth of the heap that does not count as a leak, in bytes: caches fill.
const heapSlack = 8 * mega

// fits reports whether a footprint is no larger than an earlier one.
func (f footprint) fits(to footprint) bool {
	return f.goroutines <= to.goroutines && f.files <= to.files && f.children <= to.children && f.heap <= to.heap+heapSlack
}

// countLeaks counts the resources beyond an earlier footprint as leaks.
func (f footprint) countLeaks(before footprint, c *results) {
	for _, k := range []struct {
		what     string
		was, now int
	}{
		{"goroutines", before.goroutines, f.goroutines},
		{"open files", before.files, f.files},
		{"child processes", before.children, f.children},
		{"MB of live heap", (before.heap + heapSlack) / mega, f.heap / mega},
	} {
		if k.now > k.was {
			c.leaked(k.now-k.was, "%d %s, there may be %d", k.now, k.what, k.was)
		}
	}
}

// waitIdle waits until the gateway is idle: as small as the aim, or, for a baseline, until the gateway has
// not become smaller for long enough.
func waitIdle(ctx context.Context, g *gateway, aim *footprint, steady time.Duration) (footprint, error) {
	const look = time.Second
	g.client.CloseIdleConnections() // else the clients' idle connections count
	var least footprint
	since := time.Now()
	for began := time.Now(); ; {
		f, err := g.footprint(ctx)
		if err != nil {
			return f, err
		}
		if aim != nil && f.fits(*aim) {
			return f, nil
		}
		if least.goroutines == 0 || f.goroutines < least.goroutines || f.files < least.files || f.heap < least.heap-mega/4 {
			least, since = f, time.Now()
		}
		if time.Since(began) > idleLimit || aim == nil && time.Since(since) > steady {
			return f, nil
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
}

// footprint measures the process. The measurement makes little garbage, so that it does not keep the
// gateway busy.
func (g *gateway) footprint(ctx context.Context) (footprint, error) {
	values, err := g.metrics(ctx, "go_goroutines", "tributary_heap_live_bytes")
	if err != nil {
		return footprint{}, err
	}
	f := footprint{goroutines: int(values[0]), heap: int(values[1])}
	dir := filepath.Join("/proc", strconv.Itoa(g.PID))
	open, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return f, fmt.Errorf("count the open files: %w", err)
	}
	f.files = len(open)
	tasks, err := filepath.Glob(filepath.Join(dir, "task", "*", "children"))
	if err != nil {
		return f, fmt.Errorf("count the child processes: %w", err)
	}
	for _, t := range tasks {
		children, _ := os.ReadFile(t) // a thread may have ended
		f.children += len(strings.Fields(string(children)))
	}
	f.resident, err = resident(filepath.Join(dir, "status"))
	return f, err
}

// resident reads how much memory a process has.
func resident(status string) (int, error) {
	in, err := os.Open(status)
	if err != nil {
		return 0, fmt.Errorf("read the memory: %w", err)
	}
	defer in.Close()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var kb int
		if n, _ := fmt.Sscanf(lines.Text(), "VmRSS: %d kB", &kb); n == 1 {
			return kb << 10, nil
		}
	}
	return 0, fmt.Errorf("%s has no figure of the memory", status)
}
