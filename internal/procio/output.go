package procio

import (
	"context"
	"os/exec"
	"runtime"
	"time"
)

// Output runs a short program to its end and returns its standard output, such as that of
// `X --version`. When ctx ends, the program is killed. A killed gateway takes the program
// with it, where the system can do that.
func Output(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
	// On Linux the signal comes when the thread ends that started the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.WaitDelay = env, time.Second
	cmd.SysProcAttr = dieWithUs()
	return cmd.Output()
}
