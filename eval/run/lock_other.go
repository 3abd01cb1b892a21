//go:build !unix

package run

import "os"

// lock does nothing on a system where no agent that is a program can run.
func lock(*os.File) (bool, error) { return true, nil }
