package uistream

import (
	"fmt"
	"strconv"
	"strings"
)

// release is a version of the AI SDK.
type release struct{ major, minor, patch int }

// String returns the version in the usual form.
func (v release) String() string {
	return fmt.Sprintf("%d.%d.%d", v.major, v.minor, v.patch)
}

// parseRelease reads "7" and "7.0.173".
func parseRelease(s string) (release, bool) {
	fields := strings.Split(s, ".")
	if len(fields) != 1 && len(fields) != 3 {
		return release{}, false
	}
	var n [3]int
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 10, 31)
		if err != nil || f != strconv.FormatUint(v, 10) {
			return release{}, false
		}
		n[i] = int(v)
	}
	return release{n[0], n[1], n[2]}, true
}

// since is the patch release of x.0 in which the majors 5, 6 and 7 learned
// something; never where they have not.
type since [3]int

const never = -1

func (s since) knownTo(v release) bool {
	i := v.major - 5
	if i < 0 || i >= len(s) || s[i] == never {
		return false
	}
	return v.minor > 0 || v.patch >= s[i]
}
