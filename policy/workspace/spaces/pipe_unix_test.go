//go:build unix

package spaces_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/tributary-dev/tributary/policy/workspace/spaces"
)

func TestACopyLeavesOutPipesAndSockets(t *testing.T) {
	t.Parallel()
	top, err := os.MkdirTemp("", "") //nolint:usetesting // a socket's name must be short
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(top)) })
	source := filepath.Join(top, "source")
	write(t, filepath.Join(source, "a"), "a")
	must(t, syscall.Mkfifo(filepath.Join(source, "pipe"), 0o600))
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(source, "socket"))
	must(t, err)
	defer l.Close()
	must(t, spaces.Copy(t.Context(), source, filepath.Join(top, "copy")))
	if all := names(t, filepath.Join(top, "copy")); !slices.Equal(all, []string{"a"}) {
		t.Errorf("the copy has %q", all)
	}
}
