package uistream

import (
	"fmt"
	"strconv"
	"strings"
)

// This file compares releases of the AI SDK.

// The versions of the AI SDK, and since which of them a client knows something.

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

// The releases that learned something beside the chunks and keys of the table.
//
//nolint:gochecknoglobals // never written
var (
	knowsInterrupted = since{never, never, 149} // the finish reason
	asksOnce         = since{72, 0, 0}          // see AsksAgain
)

// oldestAlike is the oldest release that accepts the same as this one. There are few of
// them, however many releases clients name.
func (v release) oldestAlike() release {
	oldest := release{major: v.major}
	learned := func(s since) {
		if at := s[v.major-5]; s.knownTo(v) && at > oldest.patch {
			oldest.patch = at
		}
	}
	learned(knowsInterrupted)
	learned(asksOnce)
	for _, r := range table {
		learned(r.since)
		for _, f := range r.fields {
			learned(f.since)
		}
	}
	return oldest
}
