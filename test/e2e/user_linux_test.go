package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/installed"
	"github.com/tributary-dev/tributary/internal/testkit/launch"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

// team is the configuration of a team in which every collaborator approves what agents do for them.
const team = `EVERY
listen: 127.0.0.1:0
data: DIR/data
cwd: DIR/work
default_agent: coder
auth:
  approver: collaborator
  tokens: [{name: ada, role: collaborator, token_file: DIR/keys/ada}]
sessions: {approval: hold}
agents:
  coder: {adapter: openai, url: URL, model: m, USER box: {form: BOX}}
  long: {adapter: command, command: sh, args: ["-c", "read -r line; echo $$ >pid.new; mv pid.new pid; exec sleep 600"], USER box: {form: BOX}}
`

const adasToken = "the-token-of-ada-0123456789-0123456789"

// A collaborator prompts a command that reads what the gateway keeps, and approves it. If the agent has a
// user of its own they get nothing, whether there is a box or not. Without a user and a box they get all.
func TestAnApprovedCommandOfAnotherUserDoesNotReadTheGatewaysFiles(t *testing.T) {
	t.Parallel()
	installed.Needed(t, os.Geteuid() == 0, "only root can start a gateway that may switch users")
	setpriv, err := exec.LookPath("setpriv")
	installed.Needed(t, err == nil, "setpriv is not installed: `apt-get install util-linux` does it")
	model := httptest.NewServer(scriptedmodel.New(scriptedmodel.Options{}))
	t.Cleanup(model.Close)
	// The unit of the Debian package starts a gateway so: see deploy/debian/tributary.service.
	unit := []string{setpriv, "--reuid", "daemon", "--regid", "daemon", "--groups", "nogroup", "--no-new-privs"}
	for _, flag := range []string{"--inh-caps", "--ambient-caps", "--bounding-set"} {
		unit = append(unit, flag, "-all,+setuid,+setgid,+kill")
	}
	for _, c := range []struct {
		name, by, every, user, box string
		open                       bool
	}{
		{name: "root", by: "root", user: "user: nobody,", box: "guard"},
		{name: "root without a box", by: "root", user: "user: nobody,", box: "'off'"},
		{name: "unit", by: "daemon", every: "agent_user: nobody", box: "guard"},
		{name: "unit without a box", by: "daemon", user: "user: nobody,", box: "'off'"},
		{name: "root without a user and a box", by: "root", box: "'off'", open: true},
		{name: "unit without a user and a box", by: "daemon", box: "'off'", open: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := place(t, c.by, strings.NewReplacer("URL", model.URL+"/v1", "EVERY", c.every, "USER", c.user, "BOX", c.box))
			args := []string{"env", "WORD=word-of-the-environment", "UMASK=0077", "sh", "-c", `umask $UMASK; exec "$0" "$@"`, filepath.Join(dir, "tributary"), "serve", "--config", filepath.Join(dir, "tributary.yaml")}
			if c.by != "root" {
				args = slices.Concat(unit, args)
			}
			p := begin(t, args)
			out := p.approve("read", fmt.Sprintf("id -un; cat ../data/token ../data/tributary.db ../keys/other; tr '\\000' '\\n' </proc/%d/environ; grep ^Cap /proc/self/status; kill -0 %d && echo can-end-it; echo mine >made; mkdir sub; echo all was tried", p.PID, p.PID))
			if !strings.Contains(out, "all was tried") {
				t.Fatalf("the command has not run: %s\n%s", out, p.Said())
			}
			for _, secret := range []string{"sha256:", "SQLite format", "key-of-another-agent", "word-of-the-environment", "can-end-it"} {
				hidden := secret == "word-of-the-environment" && c.by != "root" // the kernel closes that, because the gateway has more rights
				if strings.Contains(out, secret) != (c.open && !hidden) {
					t.Errorf("the command gets %s: %t: %s", secret, !c.open, out)
				}
			}
			for _, set := range []string{"Prm", "Eff", "Amb"} { // programs that a gateway starts get no rights of it
				if !strings.Contains(out, "Cap"+set+":\t0000000000000000") && (!c.open || c.by != "root") {
					t.Errorf("the command has capabilities: %s", out)
				}
			}
			if c.open {
				return
			}
			if !strings.Contains(out, "nobody\n") {
				t.Errorf("the command has another user: %s", out)
			}
			// The tools in the gateway and the commands change each other's files.
			p.call("write", "write_file", map[string]string{"path": "sub/deep/new", "content": "of the gateway\n"})
			p.call("edit", "write_file", map[string]string{"path": "made", "content": "of the gateway\n"})
			if out = p.approve("append", "cat made; echo both >>sub/deep/new && echo both >>made && touch sub/deep/more && echo all was changed"); !strings.Contains(out, "all was changed") || !strings.Contains(out, "of the gateway") {
				t.Errorf("the gateway and the agent do not share their files: %s\n%s", out, p.Said())
			}
			// An agent ends with its turn, and with a gateway that is killed.
			for _, end := range []func(){func() { p.do("POST", "/api/sessions/long/stop", nil) }, p.Kill} {
				agent := p.runs(filepath.Join(dir, "work", "pid"))
				end()
				for began := time.Now(); isAlive(agent); time.Sleep(20 * time.Millisecond) {
					if time.Since(began) > time.Minute {
						t.Fatalf("the agent %d is left", agent)
					}
				}
			}
		})
	}
}

// place makes the directories of a gateway that runs as a user, and a copy of the program that everybody may run.
func place(t *testing.T, by string, of *strings.Replacer) string {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "tributary-user-") //nolint:usetesting // others have to get there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ids := func(name string) (uid, gid int) {
		u, err := user.Lookup(name)
		installed.Needed(t, err == nil, "this system has no user "+name)
		uid, wrong := strconv.Atoi(u.Uid)
		gid, err = strconv.Atoi(u.Gid)
		if err := errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		return uid, gid
	}
	gateway, _ := ids(by)
	agent, group := ids("nobody")
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock() // a process that starts meanwhile would inherit the open file, and the program could not run
	defer syscall.ForkLock.RUnlock()
	text := []byte(strings.ReplaceAll(of.Replace(team), "DIR", dir))
	err = errors.Join(
		os.Chmod(dir, 0o755), os.WriteFile(filepath.Join(dir, "tributary"), program, 0o755), os.WriteFile(filepath.Join(dir, "tributary.yaml"), text, 0o644), //nolint:gosec // for other users
		os.Mkdir(filepath.Join(dir, "work"), 0o770), os.Chown(filepath.Join(dir, "work"), agent, group), os.Chmod(filepath.Join(dir, "work"), 0o770), //nolint:gosec // as above
	)
	for _, name := range []string{"data", "keys"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(dir, name), 0o700), os.Chown(filepath.Join(dir, name), gateway, -1))
	}
	for name, text := range map[string]string{"ada": adasToken, "other": "key-of-another-agent"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, "keys", name), []byte(text), 0o600), os.Chown(filepath.Join(dir, "keys", name), gateway, -1))
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// member is a gateway, and what ada does there.
type member struct {
	*launch.Server

	t *testing.T
}

func begin(t *testing.T, args []string) member {
	t.Helper()
	s, err := launch.Start(t.Context(), exec.Command(args[0], args[1:]...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	return member{s, t}
}

// do sends a request of ada.
func (m member) do(method, path string, body any) *http.Response {
	m.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		m.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(m.t.Context(), method, m.Base()+path, bytes.NewReader(raw))
	if err != nil {
		m.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adasToken)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		m.t.Fatalf("%s %s: %v\n%s", method, path, err, m.Said())
	}
	m.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode >= http.StatusBadRequest {
		m.t.Fatalf("%s %s: %s\n%s", method, path, res.Status, m.Said())
	}
	return res
}

// approve has the agent call a command, and allows it.
func (m member) approve(id, command string) string {
	m.t.Helper()
	return m.call(id, "bash", map[string]string{"command": command})
}

// call has the agent call a tool, allows that, and returns the output of the tool.
func (m member) call(id, tool string, input map[string]string) string {
	m.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		m.t.Fatal(err)
	}
	res := m.do(http.MethodPost, "/api/chat", prompt(id, "[[script:call "+tool+" "+string(raw)+"]]"))
	output := ""
	s := (&process{Server: m.Server, t: m.t}).read(res.Body, func(s *stream) bool {
		switch last := s.chunks[len(s.chunks)-1]; last["type"] {
		case "tool-approval-request":
			m.do(http.MethodPost, fmt.Sprintf("/api/sessions/%s/permissions/%s", id, last["approvalId"]), map[string]bool{"approved": true})
		case "tool-output-available":
			output = fmt.Sprint(last["output"])
		}
		return false
	})
	if output == "" {
		m.t.Fatalf("the tool %s says nothing: %v\n%s", tool, s.chunks, m.Said())
	}
	return output
}

// runs has the agent long begin a turn, and returns its process.
func (m member) runs(file string) int {
	m.t.Helper()
	_ = os.Remove(file)
	body, ok := prompt("long", "go").(map[string]any)
	if !ok {
		m.t.Fatal("the prompt is no object")
	}
	body["agent"] = "long"
	m.do(http.MethodPost, "/api/chat", body)
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				m.t.Fatal(err)
			}
			return pid
		}
	}
	m.t.Fatalf("the agent does not run: %s", m.Said())
	return 0
}
