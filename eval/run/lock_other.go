//go:build !unix

package run

import "os"

// locks says that lock keeps other processes away.
const locks = false

// lock does nothing on a system where no agent that is a program can run.
func lock(*os.File) (bool, error) { return true, nil }

func unlock(*os.File) {}
