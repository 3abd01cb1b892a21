package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// measureCrash is what kills under load cost, with each engine.
func (b *bencher) measureCrash(ctx context.Context) error {
	times := strconv.Itoa(b.scale.kills)
	for _, name := range b.start.engines() {
		row := map[string]string{gateway: "kills", onPostgres: "postgres-kills"}[name]
		r, err := b.endure(ctx, "-only", row, "-"+row, times)
		if err != nil {
			return err
		}
		b.figures.add(crashLost, name, float64(r.lost+r.doubled+r.contradicted+r.failed))
		b.figures.add(crashGap, name, float64(r.gap))
	}
	return nil
}

// measureTurns is what very many turns leave behind in the process.
func (b *bencher) measureTurns(ctx context.Context) error {
	r, err := b.endure(ctx, "-only", "turns", "-turns", strconv.Itoa(b.scale.left))
	if err == nil {
		b.figures.add(turnsLeft, gateway, float64(r.failed+r.leaked))
	}
	return err
}

// endured is a row of the endurance program's table.
type endured struct{ tried, lost, late, doubled, contradicted, failed, leaked, gap int }

// endure runs one row of the endurance program, with the sizes of its quick run.
func (b *bencher) endure(ctx context.Context, args ...string) (endured, error) {
	binary, err := filepath.Abs(b.start.binary)
	if err != nil {
		return endured{}, fmt.Errorf("find the gateway: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"run", "./test/endurance", "-quick", "-binary", binary}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the program ends what it has started
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return endured{}, fmt.Errorf("run ./test/endurance (is this the project's directory?): %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if r, ok := parseEndured(line); ok {
			return r, nil
		}
	}
	return endured{}, fmt.Errorf("run ./test/endurance: %w: it has printed no row: %q", err, out)
}

// parseEndured reads a row: words, and then nine numbers.
func parseEndured(line string) (r endured, ok bool) {
	fields := strings.Fields(line)
	numbers := []*int{&r.tried, &r.lost, &r.late, &r.doubled, &r.contradicted, &r.failed, &r.leaked, &r.gap, new(int)}
	if len(fields) <= len(numbers) {
		return endured{}, false
	}
	for i, field := range fields[len(fields)-len(numbers):] {
		var err error
		if *numbers[i], err = strconv.Atoi(field); err != nil {
			return endured{}, false
		}
	}
	return r, true
}
