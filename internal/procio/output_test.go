//go:build unix

package procio_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/procio"
)

func TestTheOutputIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	out, err := procio.Output(t.Context(), "/bin/sh", []string{"WORD=heron"}, "-c", "echo $WORD; echo noise >&2")
	if err != nil || string(out) != "heron\n" {
		t.Errorf("the output is %q, %v", out, err)
	}
}

func TestAProgramThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := procio.Output(t.Context(), "/bin/sh", nil, "-c", "echo first >&2; echo no such model >&2; exit 3")
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 3: no such model") {
		t.Errorf("the error is %v", err)
	}
	if _, err := procio.Output(t.Context(), "/no/such/program", nil); !procio.NotFound(err) {
		t.Errorf("a program that is missing gives %v", err)
	}
}

func TestAProgramThatHangsIsKilledWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := procio.Output(ctx, "/bin/sh", nil, "-c", "sleep 60"); err == nil || time.Since(start) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}
