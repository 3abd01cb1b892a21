package box_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

// What a process puts in the place of an open path, below another open one, opens nothing else to
// the next process: CLAUDE_CONFIG_DIR and its file .claude.json are such paths, and so are the top of
// a worktree and the directory below it in which an agent works.
func TestALinkInThePlaceOfAnOpenPathOpensNothing(t *testing.T) {
	t.Parallel()
	for who, uid := range users() {
		for _, open := range []string{"state/.claude.json", "work/sub"} {
			t.Run(who+": "+open, func(t *testing.T) {
				t.Parallel()
				top, rule := home(t, uid)
				for _, dir := range []string{"state", "outside", "work/sub"} {
					if err := errors.Join(os.Mkdir(filepath.Join(top, dir), 0o700), os.Chown(filepath.Join(top, dir), uid, uid)); err != nil {
						t.Fatal(err)
					}
				}
				file := filepath.Join(top, "outside/id_rsa")
				if err := errors.Join(os.WriteFile(file, []byte("private"), 0o600), os.Chown(file, uid, uid)); err != nil {
					t.Fatal(err)
				}
				rule.Form = box.Strict
				rule.Write = []string{filepath.Join(top, "work"), filepath.Join(top, "state") + "/", filepath.Join(top, open)}
				replace := `rm -rf "$1" && ln -s "$2" "$1" && echo linked; cat "$2/id_rsa" 2>/dev/null || echo closed`
				args := []string{filepath.Join(top, open), filepath.Join(top, "outside")}
				if o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: replace, Args: args}); o.Output != "linked\nclosed\n" {
					t.Fatalf("the first process says %q, %s", o.Output, o.Error)
				}
				read := `cat "$2/id_rsa" 2>/dev/null || echo closed`
				if o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: read, Args: args}); o.Error == "" && o.Output != "closed\n" {
					t.Errorf("the next process reads %q outside of its box", o.Output)
				}
			})
		}
	}
}

// A process of a gateway that is root cannot set what the kernel runs as root, outside of the box.
func TestAProcessOfRootSetsNothingOfTheKernelInStrict(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may set it at all")
	}
	top, rule := home(t, 0)
	rule.Form, rule.Write = box.Strict, []string{filepath.Join(top, "work")}
	same := `v=$(cat /proc/sys/kernel/core_pattern); { echo "$v" >/proc/sys/kernel/core_pattern; } 2>/dev/null && echo set || echo closed` // the same value
	if o := play(t, 0, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: same}); o.Output != "closed\n" {
		t.Errorf("core_pattern: %q, %s", o.Output, o.Error)
	}
}
