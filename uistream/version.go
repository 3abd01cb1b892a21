package uistream

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a release of the AI SDK.
type Version struct{ Major, Minor, Patch int }

// String returns the version in the usual form.
func (v Version) String() string {
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// parseVersion reads "7" and "7.0.173".
func parseVersion(s string) (Version, bool) {
	fields := strings.Split(s, ".")
	if len(fields) != 1 && len(fields) != 3 {
		return Version{}, false
	}
	var n [3]int
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 10, 31)
		if err != nil || f != strconv.FormatUint(v, 10) {
			return Version{}, false
		}
		n[i] = int(v)
	}
	return Version{n[0], n[1], n[2]}, true
}

// since is the patch release of x.0 in which the majors 5, 6 and 7 learned
// something; never where they have not.
type since [3]int

const never = -1

func (s since) knownTo(v Version) bool {
	i := v.Major - 5
	if i < 0 || i >= len(s) || s[i] == never {
		return false
	}
	return v.Minor > 0 || v.Patch >= s[i]
}
