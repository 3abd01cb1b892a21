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

// boxSettings has agents that start one program for each turn. It does nothing, or opens many files.
const boxSettings = unlimited + `default_agent: bare
agents:
  bare: {adapter: command, command: "true", box: {form: "off"}}
  guard: {adapter: command, command: "true", box: {form: guard, required: true}}
  strict: {adapter: command, command: "true", box: {form: strict, required: true}}
  limited: {adapter: command, command: "true", egress: [example.com]}
  bare-files: {adapter: command, command: sh, args: [-c, "` + openFiles + `"], box: {form: "off"}}
  strict-files: {adapter: command, command: sh, args: [-c, "` + openFiles + `"], box: {form: strict, required: true}}
`

const openFiles = "i=0; while [ $i -lt 2000 ]; do read x < /etc/passwd; i=$((i+1)); done"

// measureBox measures turns of agents in boxes and of agents without, by turns.
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
	measured := map[string]*server{
		bareStart: bare, guardStart: newServer(running, "guard"), strictStart: newServer(running, "strict"), limitedStart: newServer(running, "limited"),
		bareFiles: newServer(running, "bare-files"), strictFiles: newServer(running, "strict-files"),
	}
	for range boxTurns {
		took := map[string]float64{}
		for what, s := range measured {
			began := time.Now()
			if _, err := s.chat(ctx, request{session: newSession()}); err != nil {
				return errors.Join(err, bare.alive())
			}
			took[what] = milliseconds(time.Since(began))
		}
		took[bareFiles] -= took[bareStart]
		took[strictFiles] -= took[strictStart]
		for what, ms := range took {
			b.figures.add(what, gateway, ms)
		}
	}
	return nil
}
