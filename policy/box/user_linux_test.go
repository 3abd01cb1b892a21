package box_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

func TestAUserIsOneOfTheSystemAndNotRoot(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"root":         "is root, which may read every file of the gateway: name another user",
		"no-such-user": "is \"no-such-user\", and this system has no such user: make it with `useradd --system --create-home no-such-user`, or correct the name",
	} {
		if u, err := box.FindUser(name); err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
	u, err := box.FindUser("nobody")
	if err != nil || u.UID != nobody || u.GID == 0 || len(u.Groups) == 0 || u.Shell != "/bin/sh" { // not the one that says no
		t.Errorf("%+v, %v", u, err)
	}
}

// other is the user of agents, and no user of the system.
func other() *box.User {
	const id = 64999
	return &box.User{Name: "coder", UID: id, GID: id, Groups: []int{id, id + 1}, Home: "/nowhere", Shell: "/bin/sh"}
}

// A user that cannot be had is refused in a sentence, before an agent starts.
func TestACheckSaysWhyAProgramCannotRunAsAUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may be several users")
	}
	for _, c := range []struct {
		name      string
		by        int // the gateway's user
		user      *box.User
		owner     int // of the workspace
		mode, top os.FileMode
		want      string
	}{
		{"fine", 0, other(), 64999, 0o700, 0o755, ""},
		{"open to everybody", 0, other(), 0, 0o777, 0o755, ""},
		{"the workspace is another's", 0, other(), 0, 0o700, 0o755, "the user coder may not read and write the workspace WORK: give it to that user with `chown -R coder WORK`"},
		{"the workspace is read-only", 0, other(), 64999, 0o500, 0o755, "the user coder may not read and write"},
		{"no way to the workspace", 0, other(), 64999, 0o700, 0o700, "let everybody pass the directories above it with `chmod o+x`"},
		{"the gateway's own user", nobody, &box.User{Name: "nobody", UID: nobody, GID: nobody}, nobody, 0o700, 0o755, "the gateway itself runs as the user nobody"},
		{"no rights", nobody, other(), 64999, 0o777, 0o755, "the gateway may not start programs as the user coder: run it as root, or give its unit AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL"},
	} {
		for _, form := range []box.Form{box.Off, box.Guard, box.Strict} {
			t.Run(c.name+" "+string(form), func(t *testing.T) {
				t.Parallel()
				top, rule := home(t, c.by)
				rule.Form, rule.User = form, c.user
				work := filepath.Join(top, "work")
				if err := errors.Join(os.Chown(work, c.owner, c.owner), os.Chmod(work, c.mode), os.Chmod(top, c.top)); err != nil {
					t.Fatal(err)
				}
				o := play(t, c.by, job{Rule: rule, Dir: work, Check: true})
				if want := strings.ReplaceAll(c.want, "WORK", work); !strings.Contains(o.Error, want) || want == "" && o.Error != "" {
					t.Errorf("it says %q, want %q", o.Error, want)
				}
			})
		}
	}
}

// A program of another user has the user's ids and groups and nothing of the gateway's, in each form.
func TestAProgramOfAnotherUserHasNothingOfTheGateways(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may be several users")
	}
	for _, form := range []box.Form{box.Off, box.Guard, box.Strict} {
		for script, want := range map[string]string{
			`id -u; id -g; id -G; echo a >new && stat -c '%u %g' new`:                      "64999\n64999\n64999 65000\n64999 64999\n",
			`grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -v 0000000000000000`: "",
			`grep NoNewPrivs /proc/self/status`:                                            "NoNewPrivs:\t1\n",
			`cat "$DATA/token" ../tributary.yaml ../keys/key link conf 2>/dev/null`:        "",
			`cat "/proc/$GATEWAY/environ" "/proc/$GATEWAY/root$DATA/token" 2>/dev/null`:    "",
			`kill -0 "$GATEWAY" 2>/dev/null || echo closed`:                                "closed\n",
			`unshare -U --map-root-user cat "$DATA/token" 2>/dev/null`:                     "",
			`exit 7`: "",
		} {
			t.Run(string(form)+": "+script, func(t *testing.T) {
				t.Parallel()
				top, rule := home(t, 0)
				rule.Form, rule.User = form, other()
				work := filepath.Join(top, "work")
				if err := os.Chown(work, 64999, 64999); err != nil {
					t.Fatal(err)
				}
				rule.Write = []string{work}
				o := play(t, 0, job{Rule: rule, Dir: work, Script: script})
				if o.Output != want || o.Error != "" || script == "exit 7" && o.Status != 7 {
					t.Errorf("it says %q (%d) %s; want %q", o.Output, o.Status, o.Error, want)
				}
			})
		}
	}
}
