package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{}

// Run prints the version, on one line.
func (versionCommand) Run(_ context.Context, p *program) error {
	_, err := fmt.Fprintf(p.stdout, "tributary %s (%s %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// released is set by the linker in programs of a release, whose sources have no history
// that the Go tool could read.
var released string //nolint:gochecknoglobals // the linker sets variables only

// version is that of the release, or the version that the Go tool has put into the program.
func version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown version"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
