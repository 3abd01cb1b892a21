package uistream

import "fmt"

// This file tells what a client understands.

// Profile is a set of capabilities: what the client at the other end understands. Two
// releases that accept the same chunks have the same Profile. The zero Profile is the one
// to use for a client that says nothing: only what 6.0.0 and 7.0.0 know, and no key that
// 5.0.0 rejects.
type Profile struct {
	// version is the oldest release that accepts the same; its zero value means the
	// common ground of all releases.
	version release
}

// ParseProfile reads the value of the query parameter "client": a major, a full
// version, or nothing.
func ParseProfile(s string) (Profile, error) {
	if s == "" || s == "6" {
		return Profile{}, nil
	}
	v, ok := parseRelease(s)
	if !ok || v.major < 5 || v.major > 7 {
		return Profile{}, fmt.Errorf("client=%.40q is not a version of the AI SDK that this gateway knows: use 5, 6, 7 or a full version such as 7.0.173", s)
	}
	return Profile{version: v.oldestAlike()}, nil
}

// Newest returns the profile of a client that knows everything.
func Newest() Profile { return Profile{version: release{7, 1, 0}.oldestAlike()} }

// String returns the oldest version that ParseProfile reads as this Profile.
func (p Profile) String() string {
	switch {
	case p.version == release{}:
		return "6"
	case p.version == release{p.version.major, 0, 0} && p.version.major != 6:
		return fmt.Sprint(p.version.major)
	default:
		return p.version.String()
	}
}

// Approvals reports whether the client knows approvals of tool calls. One that
// does not is asked in another form.
func (p Profile) Approvals() bool { return p.knows("tool-approval-request", "") }

// ToldApprovals reports whether the client can be told how an approval was
// answered. One that cannot knows only what it has answered itself.
func (p Profile) ToldApprovals() bool { return p.knows("tool-approval-response", "") }

// AsksAgain reports whether the client may be a release before 5.0.72: when what it
// sends by itself is refused, it sends it again at once, and without end.
func (p Profile) AsksAgain() bool {
	return p.version == release{} || !asksOnce.knownTo(p.version)
}

// knows reports whether a chunk type, or a field of it, may be sent.
func (p Profile) knows(typ, field string) bool {
	return p.each(typ, func(v release) bool { return known(v, typ, field) })
}

// each reports whether something holds for each release that has to know whatever is sent of a chunk type.
func (p Profile) each(typ string, holds func(release) bool) bool {
	if p.version != (release{}) {
		return holds(p.version)
	}
	five := release{5, 0, 0} // it rejects a key that it does not know
	return holds(release{6, 0, 0}) && holds(release{7, 0, 0}) && (!known(five, typ, "") || holds(five))
}
