package procio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/policy/box"
)

// Output runs a short program to its end and returns its standard output, such as that of
// `X --version`. env is as Config.Env. An error ends with the last line of standard error. When ctx ends, Output
// kills the program. On Linux the program also ends when the gateway is killed. It runs in the box that
// ctx carries.
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
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	inside, err := box.Of(ctx).Start(cmd)
	if err == nil {
		err = cmd.Wait()
		inside.Close()
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
	}
	return out.Bytes(), err
}
