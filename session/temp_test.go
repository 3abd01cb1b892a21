package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// littering puts a file into the agent's directory for temporary files.
type littering struct {
	scripted

	dirs chan string
}

func (r littering) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	r.dirs <- cfg.Box.Temp
	if cfg.Box.Temp != "" {
		if err := os.WriteFile(filepath.Join(cfg.Box.Temp, "file"), nil, 0o600); err != nil {
			return nil, err
		}
	}
	return r.scripted.Open(ctx, host, cfg)
}

// In strict an agent has a directory for temporary files of its own, which goes with the agent, or with the next gateway.
func TestTheTemporaryFilesOfAnAgentGoWithIt(t *testing.T) {
	if err := box.Available(box.Strict); err != nil {
		t.Skip("no strict box can be had here: ", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	for form, own := range map[box.Form]bool{box.Strict: true, box.Guard: false} {
		r := littering{scripted{prompt: func(_ context.Context, _ agent.Host, _ agent.Prompt, tb *trace.Builder) error {
			tb.Message("", "done")
			return nil
		}}, make(chan string, 1)}
		set := with(t, r)
		state := t.TempDir()
		options := func(o *session.Options) {
			set(o)
			o.StateDir = state
			a := o.Agents["demo"]
			a.InProcess, a.Box.Form = false, form
			o.Agents["demo"] = a
		}
		b := newBench(t, options)
		b.wait(b.say("u1", "x"))
		dir := <-r.dirs
		if own != (dir != "") {
			t.Errorf("%s: the directory is %q", form, dir)
		}
		if _, err := os.Stat(filepath.Join(dir, "file")); own && err != nil {
			t.Error(err)
		}
		b.close()
		if left, err := filepath.Glob(os.TempDir() + "/tributary-agent-*"); err != nil || len(left) > 0 {
			t.Errorf("%s: %q stay, %v", form, left, err)
		}
		if !own {
			continue
		}
		if err := os.MkdirAll(filepath.Join(dir, "as a killed gateway leaves it"), 0o700); err != nil {
			t.Fatal(err)
		}
		newBench(t, set).close()
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("a gateway with another state directory has removed it: %v", err)
		}
		newBench(t, options).close()
		if _, err := os.Stat(dir); err == nil {
			t.Error("the next gateway has left it")
		}
	}
}
