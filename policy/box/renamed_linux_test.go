package box_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

// A process gives no directory above a closed file or directory another name: a configuration of its own in
// its place would be the gateway's at the next start. One that somebody outside has renamed opens to no later
// process.
func TestARenamedDirectoryOpensNothingToTheNextProcess(t *testing.T) {
	t.Parallel()
	for who, uid := range users() {
		for closed, file := range map[string]string{"share/data": "share/data/token", "share/key": "share/key"} {
			t.Run(who+": "+closed, func(t *testing.T) {
				t.Parallel()
				top, rule := home(t, uid)
				path := filepath.Join(top, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
					t.Fatal(err)
				}
				for at := path; at != top; at = filepath.Dir(at) {
					if err := os.Chown(at, uid, uid); err != nil {
						t.Fatal(err)
					}
				}
				var places box.Places
				paths := append(rule.Closed, filepath.Join(top, closed))
				rule.Closed = places.Now(paths)
				args := []string{filepath.Join(top, "share"), filepath.Join(top, "moved")}
				move := `mv "$1" "$2" 2>/dev/null || echo stays; mkdir "$1/more" && mv "$1/more" "$1/other" && echo "within it names change"`
				for _, form := range []box.Form{box.Guard, box.Strict} {
					rule.Form, rule.Write = form, []string{top}
					if o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: move, Args: args}); o.Output != "stays\nwithin it names change\n" {
						t.Fatalf("%s: the first process says %q, %s", form, o.Output, o.Error)
					}
					if err := os.Remove(filepath.Join(top, "share", "other")); err != nil {
						t.Fatal(err)
					}
				}
				rule.Form, rule.Write = box.Guard, nil
				if err := os.Rename(args[0], args[1]); err != nil {
					t.Fatal(err)
				}
				moved := filepath.Join(top, "moved", file[len("share/"):])
				rule.Closed = places.Now(paths)
				if o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: `cat "$1" 2>/dev/null || echo closed`, Args: []string{moved}}); o.Output != "closed\n" && o.Output != "" {
					t.Errorf("the next process reads %q, %s", o.Output, o.Error)
				}
			})
		}
	}
}
