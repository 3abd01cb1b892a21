package session_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// boxedReader is an agent whose command, in its box, prints the file that a prompt names.
type boxedReader struct{ cfg agent.Config }

func (r boxedReader) Open(_ context.Context, _ agent.Host, cfg agent.Config) (agent.Session, error) {
	return boxedReader{cfg}, nil
}

func (boxedReader) Close() error { return nil }

func (r boxedReader) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	cmd := exec.CommandContext(ctx, "cat", strings.TrimPrefix(p.Text(), "file "))
	cmd.Dir = r.cfg.Cwd
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	inside, err := r.cfg.Box.Start(cmd)
	if err != nil {
		return err
	}
	defer inside.Close()
	text := make([]byte, 100)
	n, _ := out.Read(text) // a file that is closed prints nothing
	_ = cmd.Wait()
	b.Message("", "read "+string(text[:n]))
	return nil
}

func TestABoxClosesTheWorkspacesOfOtherSessions(t *testing.T) {
	for _, form := range []box.Form{box.Guard, box.Strict} {
		t.Run(string(form), func(t *testing.T) {
			if err := box.Available(form); err != nil {
				t.Skip("no such box can be had here: ", err)
			}
			b := newSpacesBench(t, spaces.OwnCopy)
			b.close()
			maker, err := spaces.Open(t.Context(), b.dir)
			if err != nil {
				t.Fatal(err)
			}
			b.bench = benchOn(t, eventlog.New(memlog.New()), func(o *session.Options) {
				o.Workspaces = maker
				o.Agents["demo"] = session.Agent{Runtime: boxedReader{}, Cwd: b.source, Files: true, Workspace: spaces.OwnCopy, Box: box.Setting{Form: form}}
			})
			defer b.close()
			for _, id := range []string{"mine", "theirs"} {
				b.hears(id, "a.txt", "read a")
			}
			b.hears("mine", "file "+filepath.Join(b.path("mine"), "a.txt"), "read a")
			b.hears("mine", "file "+filepath.Join(b.path("theirs"), "a.txt"), "read ")
		})
	}
}
