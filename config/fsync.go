package config

import (
	"fmt"
	"time"
)

// Fsync is how often the log is synced to disk: a duration, or Always.
type Fsync time.Duration

// Always syncs every append before it is acknowledged.
const Always Fsync = -1

// UnmarshalText reads "always" or a duration.
func (f *Fsync) UnmarshalText(text []byte) error {
	if string(text) == "always" {
		*f = Always
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is unknown: write always, or a duration such as 100ms", text)
	}
	*f = Fsync(d)
	return nil
}
