package box_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

// A process that gives the directory above a closed file or directory another name opens it to no
// later process.
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
				rule.Form, rule.Closed = box.Guard, places.Now(paths)
				args := []string{filepath.Join(top, "share"), filepath.Join(top, "moved")}
				move := `mv "$1" "$2" && mkdir -p "$1/data" && echo another >"$1/key" && echo moved`
				if o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: move, Args: args}); o.Output != "moved\n" {
					t.Fatalf("the first process says %q, %s", o.Output, o.Error)
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
