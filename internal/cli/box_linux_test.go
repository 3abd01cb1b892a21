package cli

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A gateway in a namespace in which no further one may be made starts without a box, says so, and does not
// start if a box is required.
func TestAGatewayWhoseKernelGivesNoBox(t *testing.T) {
	t.Parallel()
	within := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a gateway that starts does not end
		defer cancel()
		cmd := exec.CommandContext(ctx, "unshare", append([]string{"-Ur", "sh", "-c", `echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"`, "sh", os.Args[0]}, args...)...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := within("version"); err != nil {
		t.Skipf("no such namespace can be made here: %v %s", err, out)
	}
	const sentence = "the box guard is required, and this machine does not give it: the system does not let this user start a program in namespaces of its own"
	required := file(t, "tributary.yaml", "agents: {it: {adapter: command, command: cat, box: {required: true}}}")
	out, err := within("serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()+"/data", "--cwd", t.TempDir(), "--config", required)
	if err == nil || strings.Count(out, sentence) != 1 || strings.Count(out, "\n") != 1 {
		t.Errorf("it starts with %v and says %q", err, out)
	}
	wanted := file(t, "tributary.yaml", "cwd: "+t.TempDir()+"\nagents: {it: {adapter: command, command: cat, box: {form: strict}}}")
	if out, err = within("agents", "--config", wanted); err != nil || !strings.Contains(out, "the agent it does not get its box, only off: the system does not let this user") {
		t.Errorf("%v: the agents are %s", err, out)
	}
	unasked := file(t, "tributary.yaml", "cwd: "+t.TempDir()+"\nagents: {it: {adapter: command, command: cat}}")
	if out, err = within("agents", "--config", unasked); err != nil || !strings.Contains(out, " ready (default); its box is off: the system does not let this user") || strings.Contains(out, "does not get its box") {
		t.Errorf("%v: the agents are %s", err, out)
	}
}
