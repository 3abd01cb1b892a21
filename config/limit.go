package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits bound what one principal, one session, one turn and all clients together
// may have.
type Limits struct {
	Requests    Limit `yaml:"requests"`
	Burst       Limit `yaml:"burst"`
	Streams     Limit `yaml:"streams"`
	Clients     Limit `yaml:"clients"`
	Prompts     Limit `yaml:"prompts"`
	Connections Limit `yaml:"connections"`
	TurnBytes   Size  `yaml:"turn_bytes"`
	TurnRecords Limit `yaml:"turn_records"`
}

// Limit is a number that must not be passed, or None.
type Limit int

// None is the Limit, and the Size, that bounds nothing.
const None = -1

// UnmarshalText reads "none" or a whole number greater than 0.
func (l *Limit) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		*l = None
		return nil
	}
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil || n == 0 {
		return fmt.Errorf("%q is not a limit: write a whole number greater than 0, or none", text)
	}
	*l = Limit(n) //nolint:gosec // 31 bits
	return nil
}

// Size is a number of bytes that must not be passed, or None.
type Size int64

// UnmarshalText reads "none", or a whole number with KB, MB or GB behind it.
func (s *Size) UnmarshalText(text []byte) error {
	if string(text) == "none" {
		*s = None
		return nil
	}
	for shift, unit := range map[int]string{10: "KB", 20: "MB", 30: "GB"} {
		digits, ok := strings.CutSuffix(string(text), unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(digits, " "), 10, 63)
		if err == nil && n > 0 && n <= math.MaxInt64>>shift {
			*s = Size(n << shift) //nolint:gosec // it was compared
			return nil
		}
	}
	return fmt.Errorf("%q is not a size: write a whole number greater than 0 with KB, MB or GB, such as 256MB, or none", text)
}
