//go:build !unix

package workspace

import "os"

// share does nothing where agents cannot be processes.
func (d Dir) share(*os.File, string) {}
