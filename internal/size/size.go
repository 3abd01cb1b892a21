// Package size says numbers of bytes in sentences.
package size

import "fmt"

// Bytes is a number of bytes.
type Bytes int64

// String says it as people do: a whole number of the largest unit that fits.
func (b Bytes) String() string {
	for _, unit := range []string{"bytes", "KB", "MB"} {
		if b < 1<<10 || b%(1<<10) != 0 {
			return fmt.Sprintf("%d %s", int64(b), unit)
		}
		b >>= 10
	}
	return fmt.Sprintf("%d GB", int64(b))
}
