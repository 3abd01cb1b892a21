package procio

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Output runs a short program to its end and returns its standard output, such as that of
// `X --version`. env is as Config.Env. An error ends with the last line of standard error. When ctx ends, Output
// kills the program. On Linux the program also ends when the gateway is killed.
func Output(ctx context.Context, path string, env []string, args ...string) ([]byte, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	// On Linux the signal comes when the thread ends that started the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.WaitDelay = whole(env), time.Second
	cmd.SysProcAttr = dieWithUs()
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
	}
	return out, err
}
