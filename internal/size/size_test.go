package size_test

import (
	"testing"

	"github.com/tributary-dev/tributary/internal/size"
)

func TestBytesAreWrittenInTheLargestUnitThatFits(t *testing.T) {
	for n, want := range map[size.Bytes]string{
		0: "0 bytes", 1000: "1000 bytes", 1 << 10: "1 KB", 1<<10 + 1: "1025 bytes", 1536 << 10: "1536 KB", 64 << 20: "64 MB", 3 << 30: "3 GB", 2 << 40: "2048 GB",
	} {
		if got := n.String(); got != want {
			t.Errorf("%d: %q, want %q", int64(n), got, want)
		}
	}
}
