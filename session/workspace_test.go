package session_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// worker is an agent that writes each prompt into the file "said" of its directory, and says what
// was there. Before it reads, all workers of a meeting have written.
type worker struct {
	meet *sync.WaitGroup
	cfg  agent.Config
	host agent.Host
}

func (w worker) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	w.cfg, w.host = cfg, host
	return w, nil
}

func (worker) Close() error { return nil }

func (w worker) Prompt(_ context.Context, p agent.Prompt, b *trace.Builder) error {
	path := filepath.Join(w.cfg.Cwd, "said")
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.host.Files().WriteFile("said", []byte(p.Text())); err != nil {
		return err
	}
	if w.meet != nil {
		w.meet.Done()
		w.meet.Wait()
	}
	now, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b.Message("", string(before)+">"+string(now))
	return nil
}

// spacesBench is a hub whose agent works in a repository, and can be restarted.
type spacesBench struct {
	*bench
	source, dir string
	form        spaces.Form
	meet        *sync.WaitGroup
}

func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so nothing is known of worktrees and commits")
	}
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

func newSpacesBench(t *testing.T, form spaces.Form) *spacesBench {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &spacesBench{source: filepath.Join(top, "project"), dir: filepath.Join(top, "workspaces"), form: form}
	if err := errors.Join(os.Mkdir(b.source, 0o755), os.WriteFile(filepath.Join(b.source, "a.txt"), []byte("a"), 0o644)); err != nil {
		t.Fatal(err)
	}
	gitIn(t, b.source, "init", "-q")
	gitIn(t, b.source, "add", ".")
	gitIn(t, b.source, "commit", "-q", "-m", "first")
	b.start(t, eventlog.New(memlog.New()))
	return b
}

// start makes the hub on a log. A hub that is closed leaves its log open.
func (b *spacesBench) start(t *testing.T, log *eventlog.Log) {
	t.Helper()
	maker, err := spaces.Open(t.Context(), b.dir)
	if err != nil {
		t.Fatal(err)
	}
	b.bench = benchOn(t, log, func(o *session.Options) {
		o.Workspaces = maker
		o.Agents["demo"] = session.Agent{Runtime: worker{meet: b.meet}, Cwd: b.source, InProcess: true, Files: true, Workspace: b.form}
	})
}

// prompt asks a session, and returns the end of the turn.
func (b *spacesBench) prompt(id, words string) trace.Stop {
	b.t.Helper()
	if _, err := b.Ensure(b.t.Context(), session.Spec{ID: id}); err != nil {
		b.t.Fatal(err)
	}
	turn, err := b.Prompt(b.t.Context(), id, session.Prompt{Message: text("", words), By: "ada"})
	if err != nil {
		b.t.Fatal(err)
	}
	for r, err := range b.Follow(b.t.Context(), id, turn.ID, turn.After) {
		if err != nil {
			b.t.Fatal(err)
		}
		if stop, is := r.Payload.(trace.Stop); is {
			return stop
		}
	}
	b.t.Fatal("the turn has no end")
	return trace.Stop{}
}

func (b *spacesBench) hears(id, words, want string) {
	b.t.Helper()
	if stop := b.prompt(id, words); stop.FinalOutput != want {
		b.t.Errorf("%s: the session %s hears %q, want %q (%s)", b.form, id, stop.FinalOutput, want, stop.Error)
	}
}

// path is where a session works.
func (b *spacesBench) path(id string) string {
	b.t.Helper()
	s, err := b.Get(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.WorkspacePath(s.Info)
}

func (b *spacesBench) list() (all []string) {
	b.t.Helper()
	states, err := b.ListWorkspaces(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range states {
		line := s.Session + " " + s.State()
		if s.LeftOver {
			line += " left over"
		}
		all = append(all, line)
	}
	return all
}

func ownForms() []spaces.Form { return []spaces.Form{spaces.OwnCopy, spaces.OwnWorktree} }

func TestSessionsThatRunAtOnceDoNotSeeEachOthersFiles(t *testing.T) {
	t.Parallel()
	for _, form := range ownForms() {
		b := newSpacesBench(t, form)
		b.close()
		b.meet = new(sync.WaitGroup)
		b.meet.Add(2)
		b.start(t, eventlog.New(memlog.New()))
		var both sync.WaitGroup
		for _, id := range []string{"one", "two"} {
			both.Go(func() { b.hears(id, "of "+id, ">of "+id) })
		}
		both.Wait()
		if _, err := os.Stat(filepath.Join(b.source, "said")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the agent's directory has the file: %v", form, err)
		}
		if one, two := b.path("one"), b.path("two"); one == two || !strings.HasPrefix(one, b.dir) || !strings.HasPrefix(two, b.dir) {
			t.Errorf("%s: the paths are %s and %s", form, one, two)
		}
		for _, id := range []string{"one", "two"} {
			files, _, err := b.Files(t.Context(), id, "said", 10)
			if err != nil || !slices.Equal(files, []string{"said"}) {
				t.Errorf("%s: the session %s lists %q, %v", form, id, files, err)
			}
		}
		if files, _, err := b.Files(t.Context(), "s", "said", 10); err != nil || len(files) > 0 {
			t.Errorf("%s: a session without a prompt lists %q, %v", form, files, err)
		}
		if _, err := b.Conversations(t.Context(), "demo"); !errors.Is(err, agent.ErrNotListed) {
			t.Errorf("%s: the conversations: %v", form, err)
		}
		b.close()
	}
}

func TestASessionFindsItsWorkspaceAfterARestart(t *testing.T) {
	t.Parallel()
	for _, form := range ownForms() {
		b := newSpacesBench(t, form)
		b.hears("one", "first", ">first")
		path := b.path("one")
		if err := b.Hub.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.form = spaces.Shared // from now on, for new sessions
		b.start(t, b.log)
		b.hears("one", "second", "first>second")
		b.hears("new", "third", ">third")
		if b.path("one") != path || b.path("new") != "" {
			t.Errorf("%s: the paths are %q and %q, want %q and none", form, b.path("one"), b.path("new"), path)
		}
		b.close()
	}
}

//evidence:for ops-workspaces
func TestADeletedSessionLeavesWhatIsNowhereElse(t *testing.T) {
	t.Parallel()
	for _, form := range ownForms() {
		b := newSpacesBench(t, form)
		for _, id := range []string{"clean", "changed", "committed"} {
			b.hears(id, "x", ">x")
		}
		paths := map[string]string{}
		for _, id := range []string{"clean", "changed", "committed"} {
			paths[id] = b.path(id)
		}
		if err := os.Remove(filepath.Join(paths["clean"], "said")); err != nil {
			t.Fatal(err)
		}
		gitIn(t, paths["committed"], "add", ".")
		gitIn(t, paths["committed"], "commit", "-q", "-m", "work")
		if want := []string{"changed changed", "clean clean", "committed commits"}; !slices.Equal(b.list(), want) {
			t.Errorf("%s: the list is %q, want %q", form, b.list(), want)
		}
		if err := b.RemoveWorkspace(t.Context(), "clean", true); !errors.Is(err, session.ErrWorkspaceInUse) {
			t.Errorf("%s: the workspace of a session is removed: %v", form, err)
		}
		for id := range paths {
			kept, err := b.Delete(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if (id == "clean") != (kept == "") || kept != "" && (!strings.Contains(kept, "the workspace of the session "+id+" has ") || !strings.Contains(kept, paths[id])) {
				t.Errorf("%s: the deletion of %s keeps %q", form, id, kept)
			}
		}
		if want := []string{"changed changed left over", "committed commits left over"}; !slices.Equal(b.list(), want) {
			t.Errorf("%s: the list is %q, want %q", form, b.list(), want)
		}
		// Another session of this id begins anew.
		b.hears("changed", "y", ">y")
		if b.path("changed") == paths["changed"] {
			t.Errorf("%s: a new session has got the workspace of a deleted one", form)
		}
		for _, id := range []string{"changed", "committed"} {
			err := b.RemoveWorkspace(t.Context(), id, false)
			if _, is := errors.AsType[*spaces.LossError](err); !is {
				t.Errorf("%s: the workspace of %s: %v", form, id, err)
			}
			if err := b.RemoveWorkspace(t.Context(), id, true); err != nil {
				t.Errorf("%s: the workspace of %s: %v", form, id, err)
			}
			if _, err := os.Stat(paths[id]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: the workspace of %s is there: %v", form, id, err)
			}
		}
		if want := []string{"changed changed"}; !slices.Equal(b.list(), want) {
			t.Errorf("%s: the list is %q, want %q", form, b.list(), want)
		}
		if err := b.RemoveWorkspace(t.Context(), "nobody", false); !errors.Is(err, session.ErrUnknownWorkspace) {
			t.Errorf("%s: %v", form, err)
		}
		b.close()
	}
}

func TestASessionWithoutItsWorkspaceSaysSo(t *testing.T) {
	t.Parallel()
	for _, form := range ownForms() {
		b := newSpacesBench(t, form)
		b.hears("one", "x", ">x")
		path := b.path("one")
		if err := errors.Join(b.Hub.Close(t.Context()), os.RemoveAll(path)); err != nil {
			t.Fatal(err)
		}
		b.start(t, b.log)
		if stop := b.prompt("one", "y"); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "the workspace of this session is gone from this machine") || !strings.Contains(stop.Error, path) {
			t.Errorf("%s: the turn ends with %+v", form, stop)
		}
		if _, _, err := b.Files(t.Context(), "one", "", 10); !errors.Is(err, spaces.ErrGone) {
			t.Errorf("%s: the files: %v", form, err)
		}
		if _, err := b.Delete(t.Context(), "one"); err != nil {
			t.Error(err)
		}
		b.close()
	}
}

func TestAWorkspaceThatCannotBeMade(t *testing.T) {
	t.Parallel()
	b := newSpacesBench(t, spaces.OwnWorktree)
	if err := os.RemoveAll(filepath.Join(b.source, ".git")); err != nil {
		t.Fatal(err)
	}
	if stop := b.prompt("one", "x"); stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "is not in a work tree of git") {
		t.Errorf("the turn ends with %+v", stop)
	}
	gitIn(t, b.source, "init", "-q")
	gitIn(t, b.source, "commit", "-q", "--allow-empty", "-m", "first")
	b.hears("one", "x", ">x")
	b.close()
	if _, err := session.New(t.Context(), session.Options{Log: eventlog.New(memlog.New()), Agents: map[string]session.Agent{"a": {Runtime: worker{}, Workspace: spaces.OwnCopy}}}); err == nil || !strings.Contains(err.Error(), "there is no directory for them") {
		t.Errorf("a hub without a directory for workspaces: %v", err)
	}
}
