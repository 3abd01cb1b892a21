package config

import (
	"errors"
	"strings"
)

// Fsync says whether the log waits for the disk before it acknowledges a record.
type Fsync string

// The values of Fsync. The empty one means FsyncOn.
const (
	FsyncOn  Fsync = "on"
	FsyncOff Fsync = "off"
)

// CheckDB returns an error of one sentence when the text is no URL of a database. The error
// does not repeat the text, which may hold a password.
func CheckDB(url string) error {
	if strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://") {
		return nil
	}
	return errors.New("is no URL of a database: write postgres://user@host:5432/database")
}
