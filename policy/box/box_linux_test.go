package box_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

const (
	asGateway = "BOX_TEST_GATEWAY"
	secret    = "heron-in-the-reeds"
	nobody    = 65534
)

func TestMain(m *testing.M) {
	box.Enter()
	if os.Getenv(asGateway) != "" {
		beGateway()
	}
	os.Exit(m.Run())
}

// job is what the gateway of a test has to start.
type job struct {
	Rule   box.Rule
	Dir    string
	Script string
	Args   []string
	Check  bool // only check whether the rule can be had
}

// outcome is what became of it.
type outcome struct {
	Output string
	Status int
	Error  string
}

// beGateway starts one program in a box, as a gateway would. Its environment and its directory
// hold the secret.
func beGateway() {
	var j job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		panic(err)
	}
	held, err := os.Open(filepath.Join(filepath.Dir(j.Dir), "data", "token")) // an open file of the gateway
	if err != nil {
		panic(err)
	}
	defer held.Close()
	var out strings.Builder
	cmd := exec.Command("/bin/sh", append([]string{"-c", j.Script, "sh"}, j.Args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = j.Dir, &out, &out
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":" + filepath.Join(filepath.Dir(j.Dir), "named"), "HOME=" + filepath.Dir(j.Dir), "TMPDIR=/dev/shm", fmt.Sprint("GATEWAY=", os.Getpid()), "DATA=" + filepath.Join(filepath.Dir(j.Dir), "data")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	o := outcome{}
	if j.Check {
		if err = j.Rule.Check(j.Dir); err != nil {
			o.Error = err.Error()
		}
	} else if _, err = j.Rule.Start(cmd); err == nil {
		_ = cmd.Wait()
		o.Status = cmd.ProcessState.ExitCode()
	} else {
		o.Error = err.Error()
	}
	o.Output = out.String()
	_ = json.NewEncoder(os.Stdout).Encode(o)
	os.Exit(0)
}

// home makes a home directory with a workspace, a data directory, a configuration and a key, and
// names of them that lead there by other ways.
func home(t *testing.T, uid int) (top string, rule box.Rule) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	top, err := os.MkdirTemp("/var/tmp", "box") //nolint:usetesting // not below /tmp, which is another one in strict
	must(err)
	t.Cleanup(func() { must(os.RemoveAll(top)) })
	for _, dir := range []string{"work", "data", "data/agents", "keys", "spaces/mine/tree", "spaces/other/tree"} {
		must(os.MkdirAll(filepath.Join(top, dir), 0o700))
	}
	for _, file := range []string{"data/token", "tributary.yaml", "keys/key", "spaces/other/tree/a.txt", "spaces/mine/space.json"} {
		must(os.WriteFile(filepath.Join(top, file), []byte(secret), 0o600))
	}
	must(os.WriteFile(filepath.Join(top, "spaces/mine/tree/a.txt"), []byte("mine"), 0o600))
	must(os.Symlink("../data/token", filepath.Join(top, "work/link")))
	must(os.Symlink("../data", filepath.Join(top, "work/dir")))
	must(os.Symlink("../tributary.yaml", filepath.Join(top, "work/conf")))
	must(os.Symlink("keys/key", filepath.Join(top, "named-key")))
	must(filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error { return errors.Join(err, os.Lchown(path, uid, uid)) }))
	for up := top; up != "/" && os.Geteuid() == 0; up = filepath.Dir(up) { // the other user has to get there
		if info, err := os.Stat(up); err == nil && info.Mode()&0o001 == 0 {
			must(os.Chmod(up, info.Mode()|0o055))
		}
	}
	in := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(top, name))
		}
		return all
	}
	return top, box.Rule{
		Form: box.Guard, Closed: in("data", "tributary.yaml", "named-key", "spaces", "not/there"), Open: in("spaces/mine/tree"),
	}
}

// users are those that the tests can be: a user with all privileges is confined in another way.
func users() map[string]int {
	if os.Geteuid() == 0 {
		return map[string]int{"root": 0, "nobody": nobody}
	}
	return map[string]int{"user": os.Geteuid()}
}

// play has a gateway of a user start a job.
func play(t *testing.T, uid int, j job) outcome {
	t.Helper()
	if err := box.Available(j.Rule.Form); err != nil {
		t.Skip("no box can be had here: ", err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	gateway := exec.CommandContext(t.Context(), "/proc/self/exe")
	gateway.Env = []string{asGateway + "=1", "PATH=" + os.Getenv("PATH"), "TOKEN=" + secret, "GORACE=atexit_sleep_ms=0"} // else each one sleeps for a second under the race detector
	gateway.Stdin, gateway.Stderr, gateway.Dir = strings.NewReader(string(text)), os.Stderr, "/"
	if os.Geteuid() == 0 {
		gateway.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	for _, path := range []string{"data", "data/token"} { // who started the gateway has left them open
		if f, err := os.Open(filepath.Join(filepath.Dir(j.Dir), path)); err == nil {
			defer f.Close()
			gateway.ExtraFiles = append(gateway.ExtraFiles, f)
		}
	}
	out, err := gateway.Output()
	if err != nil {
		t.Fatal(err)
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return o
}

func TestAGuardClosesWhatTheGatewayKeeps(t *testing.T) {
	t.Parallel()
	for who, uid := range users() {
		for _, script := range []string{
			`cat <&4`, `cat /proc/self/fd/3/token`, `cat /proc/self/fd/3/../tributary.yaml`,
			`cat "$DATA/token"`, `cat ../data/token`, `cat link`, `cat dir/token`, `cd dir && cat token`,
			`cat ../tributary.yaml conf`, `cat ../keys/key ../named-key`, `cat "$HOME"/spaces/other/tree/a.txt "$HOME"/spaces/mine/space.json`,
			`ls ../data | grep token && echo ` + secret, `tar -cf - -C .. . | tr -d '\000'`, `grep -rs heron ..`,
			`tr '\000' '\n' <"/proc/$GATEWAY/environ"`, `cat "/proc/$GATEWAY/root/$DATA/token"`, `cat "/proc/$GATEWAY/cwd/$DATA/token"`,
			`for f in /proc/$GATEWAY/fd/*; do test -f "$f" && cat "$f"; done`, `cat "/proc/$GATEWAY/task/$GATEWAY/root/$DATA/token"`, `cat /proc/$GATEWAY/map_files/*`, `cat /proc/$GATEWAY/mem`,
			`cat "/proc/$PPID/root/$DATA/token"`, `cat "/proc/self/root/$DATA/token" "/proc/1/root/$DATA/token"`,
			`umount "$DATA"; umount -l "$DATA"; cat "$DATA/token"`, `mount -o remount,rw "$DATA"; cat "$DATA/token"`, `umount "$HOME/tributary.yaml"; cat "$HOME/tributary.yaml"`,
			`unshare -Urm sh -c 'umount -l "$DATA"; cat "$DATA/token"'`, `unshare -Urm --propagation private sh -c 'mount --bind "$HOME" /mnt && cat /mnt/data/token'`,
			`unshare -Urm sh -c 'mount --rbind / /mnt; umount -l /mnt"$DATA"; cat "/mnt$DATA/token"'`,
			`unshare -Urm sh -c 'umount -l /; cat "$DATA/token"'`, `unshare -Urm sh -c 'mkdir -p x && mount --bind .. x && cat x/data/token'`,
			`nsenter -U -m -t "$GATEWAY" cat "$DATA/token"`, `nsenter -t "$PPID" -m cat "$DATA/token"`,
			`mv "$DATA" ../moved; cat ../moved/token`, `mv ../tributary.yaml ../x; cat ../x`, `ln ../tributary.yaml x; cat x`, `ln "$DATA/token" x; cat x`,
			`mv "$HOME" "$HOME.moved"; cat "$HOME.moved/data/token"; mv "$HOME.moved" "$HOME"`,
			`timeout 2 gdb -p "$GATEWAY" -batch -ex "info proc"; cat "/proc/$GATEWAY/stack"`,
			`chmod -R 777 "$DATA" ../tributary.yaml; cat "$DATA/token" ../tributary.yaml`, `chattr -i "$DATA"; rm -rf "$DATA"; ls -la "$DATA"`,
			`bwrap --dev-bind / / cat "$DATA/token"`, `bwrap --bind "$HOME" /mnt --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 cat /mnt/data/token`,
			`sudo -n cat "$DATA/token"`, `su -c 'cat "$DATA/token"'`,
		} {
			t.Run(who+": "+script, func(t *testing.T) {
				t.Parallel()
				top, rule := home(t, uid)
				o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: script})
				if strings.Contains(o.Output, secret) || o.Error != "" {
					t.Errorf("it says %.500q, %s", o.Output, o.Error)
				}
				for _, kept := range []string{"data/token", "tributary.yaml", "keys/key"} {
					if text, err := os.ReadFile(filepath.Join(top, kept)); string(text) != secret {
						t.Errorf("%s is %q, %v", kept, text, err)
					}
				}
			})
		}
	}
}

// The scripts above say nothing if they fail for another reason. Without a box the gateway gives all
// of these away.
func TestWithoutABoxTheSecretsAreOpen(t *testing.T) {
	t.Parallel()
	for who, uid := range users() {
		for _, script := range []string{`cat link`, `cat conf`, `cat ../named-key`, `cat "/proc/$GATEWAY/root/$DATA/token"`, `tr '\000' '\n' <"/proc/$GATEWAY/environ"`, `for f in /proc/$GATEWAY/fd/*; do test -f "$f" && cat "$f"; done`} {
			t.Run(who+": "+script, func(t *testing.T) {
				t.Parallel()
				top, _ := home(t, uid)
				if o := play(t, uid, job{Dir: filepath.Join(top, "work"), Script: script}); !strings.Contains(o.Output, secret) {
					t.Errorf("it says %.500q, %s", o.Output, o.Error)
				}
			})
		}
	}
}

func TestAGuardLeavesEverythingElseAsItIs(t *testing.T) {
	t.Parallel()
	for who, uid := range users() {
		for script, want := range map[string]string{
			`echo a >new && cat new && echo b >../beside && cat ../beside && mkdir ../dir2 && rmdir ../dir2`:   "a\nb\n",
			`id -u; id -g; touch x; stat -c '%u %g' x . ..`:                                                    fmt.Sprintf("%d\n%d\n%d %d\n%d %d\n%d %d\n", uid, uid, uid, uid, uid, uid, uid, uid),
			`cat "$HOME/spaces/mine/tree/a.txt"; cd "$HOME/spaces/mine/tree" && echo more >b && cat ../tree/b`: "minemore\n",
			`echo out; echo err >&2; exit 7`:                                                                   "out\nerr\n",
			`kill -TERM $$`:                                                                                    "",
			`env | grep -v '^PWD=' | grep -v '^_=' | cut -d= -f1 | sort | tr '\n' ' '`:                         "DATA GATEWAY HOME PATH TMPDIR ",
			`cat "/proc/$$/comm"; tr '\000' ' ' </proc/$$/cmdline | cut -c1-11`:                                "sh\n/bin/sh -c \n",
			`ps -o pgid= -p $$ | tr -d ' ' | grep -qx $$ && echo leads its group`:                              "leads its group\n",
			`git init -q . && git status --short | head -1 && echo owned`:                                      "?? conf\nowned\n",
			`unshare -Ur id -u`: "0\n",
			`bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev sh -c 'echo in && cat /proc/1/comm | head -1'`: "in\nbwrap\n",
			`printf 'Host x\n  User y\n' >conf2 && ssh -T -F conf2 -G x 2>/dev/null | grep '^user '`:                  "user y\n",
		} {
			t.Run(who+": "+script, func(t *testing.T) {
				t.Parallel()
				program, _, _ := strings.Cut(script, " ")
				if program == "printf" {
					if program = "ssh"; who == "user" {
						t.Skip("ssh needs a user with a name")
					}
				}
				if _, err := exec.LookPath(program); err != nil && !strings.Contains("cd kill echo", program) {
					t.Skip(program, " is not installed")
				}
				top, _ := home(t, uid)
				bare := play(t, uid, job{Dir: filepath.Join(top, "work"), Script: script})
				top, rule := home(t, uid)
				o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: script})
				if o.Output != want || o.Output != bare.Output || o.Status != bare.Status || o.Error != "" {
					t.Errorf("it says %q (%d) %s; without a box %q (%d); want %q", o.Output, o.Status, o.Error, bare.Output, bare.Status, want)
				}
			})
		}
	}
}

// Strict closes also what no rule names, and lets a program work in what is open.
func TestStrictOpensOnlyWhatItNeeds(t *testing.T) {
	t.Parallel()
	for who, uid := range users() {
		for script, want := range map[string]string{
			`echo a >new && cat new && mkdir d && mv new d/ && cat d/new && rm -r d`: "a\na\n",
			`cat ../beside || echo closed`:                                           "closed\n",
			`echo x >../new || echo closed`:                                          "closed\n",
			`ls .. || echo closed`:                                                   "closed\n",
			`cat ../readable/a; echo y >../readable/a || echo closed`:                "readable\nclosed\n",
			`cat ../named/a || echo closed`:                                          "closed\n", // PATH of a command says nothing
			`echo z >../state/b && cat ../state/b`:                                   "z\n",
			`echo z >../made/b && cat ../made/b`:                                     "z\n",
			`cat link ../keys/key "/proc/$GATEWAY/root/$DATA/token" || echo closed`:  "closed\n",
			`kill -0 "$GATEWAY" || echo closed`:                                      "closed\n",
			`sleep 60 & kill $! && wait $! ; echo $?`:                                "143\n",
			`id -u >/dev/null && git --version | cut -c1-3; echo x >/dev/null`:       "git\n",
		} {
			t.Run(who+": "+script, func(t *testing.T) {
				t.Parallel()
				top, rule := home(t, uid)
				for _, dir := range []string{"readable", "state", "named"} {
					if err := errors.Join(os.Mkdir(filepath.Join(top, dir), 0o755), os.Chown(filepath.Join(top, dir), uid, uid)); err != nil {
						t.Fatal(err)
					}
				}
				for _, file := range []string{"readable/a", "named/a", "beside"} {
					if err := os.WriteFile(filepath.Join(top, file), []byte("readable\n"), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				rule.Form, rule.Read, rule.Write = box.Strict, []string{filepath.Join(top, "readable")}, []string{filepath.Join(top, "work"), filepath.Join(top, "state"), filepath.Join(top, "made") + "/"}
				o := play(t, uid, job{Rule: rule, Dir: filepath.Join(top, "work"), Script: "exec 3>&2 2>/dev/null; export TMPDIR=/nowhere; " + script})
				if o.Output != want || o.Error != "" {
					t.Errorf("it says %q (%d) %s; want %q", o.Output, o.Status, o.Error, want)
				}
			})
		}
	}
}

// In strict /tmp is the session's own, and what is open below it is in its place. In the other forms it is that of the system.
func TestStrictHasItsOwnDirectoryForTemporaryFiles(t *testing.T) {
	t.Parallel()
	const look = `cat "$1/file" || echo closed`
	for who, uid := range users() {
		outside, err := os.MkdirTemp("/tmp", "box") //nolint:usetesting // it has to be below /tmp
		if err != nil {
			t.Fatal(err)
		}
		mine := filepath.Base(outside) + "-mine"
		t.Cleanup(func() { _, _ = os.RemoveAll(outside), os.Remove("/tmp/"+mine) })
		write := `echo mine >/tmp/` + mine + ` && cat /tmp/` + mine + ` && echo "$TMPDIR"`
		socket, err := net.Listen("unix", outside+"/socket")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = socket.Close() })
		if err := errors.Join(os.WriteFile(outside+"/file", []byte("outside\n"), 0o666), os.Chmod(outside, 0o777), os.Chmod(outside+"/file", 0o666)); err != nil {
			t.Fatal(err)
		}
		for name, row := range map[string]struct {
			script      string
			read, write string
			form        box.Form
			want        string
		}{
			"it is empty":          {`ls -A /tmp`, "", "", box.Strict, ""},
			"it can be written to": {write, "", "", box.Strict, "mine\n/tmp\n"},
			"a file outside":       {look, "", "", box.Strict, "closed\n"},
			"a file that is open":  {look, outside + "/file", "", box.Strict, "outside\n"},
			"its directory":        {look + `; touch "$1/x" || echo closed`, outside, "", box.Strict, "outside\nclosed\n"},
			"a part of it":         {`touch "$1/part/x" && echo made; touch "$1/x" || echo closed`, outside, outside + "/part/", box.Strict, "made\nclosed\n"},
			"a new directory":      {`touch "$1/made/x" && echo made`, "", outside + "/made/", box.Strict, "made\n"},
			"a new file":           {`cat "$1/new" && echo made; echo x >"$1/new" || echo closed`, outside, "", box.Strict, "made\nclosed\n"},
			"a socket":             {`test -S "$1/socket" && echo socket; ls -A "$1"`, outside + "/socket", "", box.Strict, "socket\nsocket\n"},
			"all of it is open":    {look, "", "/tmp", box.Strict, "outside\n"},
			"a guard":              {look + `; echo "$TMPDIR"`, "", "", box.Guard, "outside\n/dev/shm\n"},
		} {
			for _, kept := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s: %s, kept %t", who, name, kept), func(t *testing.T) {
					t.Parallel()
					top, rule := home(t, uid)
					work, dir := filepath.Join(top, "work"), filepath.Join(top, "temporary")
					if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, uid, uid)); err != nil {
						t.Fatal(err)
					}
					rule.Form, rule.Write = row.form, []string{work}
					if row.write != "" {
						rule.Write = append(rule.Write, row.write)
					}
					if row.read != "" {
						rule.Read = []string{row.read}
					}
					rule.Files = []string{filepath.Join(outside, "new")}
					if kept {
						rule.Temp = dir
					}
					o := play(t, uid, job{Rule: rule, Dir: work, Script: "exec 2>/dev/null; " + row.script, Args: []string{outside}})
					if o.Output != row.want || o.Error != "" {
						t.Errorf("it says %q (%d) %s; want %q", o.Output, o.Status, o.Error, row.want)
					}
					if _, err := os.Stat("/tmp/" + mine); err == nil {
						t.Error("it is that of the system")
					}
					if text, _ := os.ReadFile(dir + "/" + mine); row.script == write && kept != (string(text) == "mine\n") {
						t.Errorf("the directory has %q", text)
					}
				})
			}
		}
	}
}
