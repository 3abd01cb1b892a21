package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
)

// boxTurns is how many turns are measured with each of the agents.
const boxTurns = 100

// boxSettings has three agents that start one program for each turn, which does nothing.
const boxSettings = unlimited + `default_agent: bare
agents:
  bare: {adapter: command, command: "true", box: {form: "off"}}
  boxed: {adapter: command, command: "true", box: {form: guard, required: true}}
  limited: {adapter: command, command: "true", egress: [example.com]}
`

// measureBox measures turns of an agent in a box, of one without, and of one with a network of its own, by turns.
func (b *bencher) measureBox(ctx context.Context) error {
	file := filepath.Join(b.start.dir, "box.yaml")
	err := os.WriteFile(file, []byte(boxSettings), 0o600)
	var data, work string
	if err == nil {
		data, err = os.MkdirTemp(b.start.dir, "boxed")
	}
	if err == nil {
		work, err = os.MkdirTemp(b.start.dir, "work")
	}
	if err != nil {
		return fmt.Errorf("prepare a gateway: %w", err)
	}
	cmd := exec.Command(b.start.binary, "serve", "--config", file, "--listen", "127.0.0.1:0", "--data", data, "--cwd", work, "--log-level", "warn") //nolint:noctx // it outlives the context of its start
	running, err := launch.Start(ctx, cmd)
	if err != nil {
		return err
	}
	bare := newServer(running, "bare")
	defer bare.end()
	boxed, limited := newServer(running, "boxed"), newServer(running, "limited")
	for range boxTurns {
		for what, s := range map[string]*server{bareStart: bare, boxedStart: boxed, limitedStart: limited} {
			began := time.Now()
			if _, err := s.chat(ctx, request{session: newSession()}); err != nil {
				return errors.Join(err, bare.alive())
			}
			b.figures.add(what, gateway, milliseconds(time.Since(began)))
		}
	}
	return nil
}
