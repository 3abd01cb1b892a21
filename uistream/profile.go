package uistream

import "fmt"

// Profile says what the client at the other end understands. The zero Profile
// is the one to use for a client that says nothing: only what 6.0.0 and 7.0.0
// know, and no key that 5.0.0 rejects.
type Profile struct {
	// version is the release to speak to; its zero value means the common
	// ground of all releases.
	version Version
}

// ParseProfile reads the value of the query parameter "client": a major, a full
// version, or nothing.
func ParseProfile(s string) (Profile, error) {
	if s == "" || s == "6" {
		return Profile{}, nil
	}
	v, ok := parseVersion(s)
	if !ok || v.Major < 5 || v.Major > 7 {
		return Profile{}, fmt.Errorf("client=%q is not a version of the AI SDK that this gateway knows: use 5, 6, 7 or a full version such as 7.0.173", s)
	}
	return Profile{version: v}, nil
}

// String returns what ParseProfile read.
func (p Profile) String() string {
	switch {
	case p.version == Version{}:
		return "6"
	case p.version.Minor == 0 && p.version.Patch == 0:
		return fmt.Sprint(p.version.Major)
	default:
		return p.version.String()
	}
}

// Approvals reports whether the client knows approvals of tool calls. One that
// does not is asked in another form.
func (p Profile) Approvals() bool { return p.knows("tool-approval-request", "") }

// knows reports whether a chunk type, or a field of it, may be sent.
func (p Profile) knows(typ, field string) bool {
	for _, v := range p.must() {
		if !known(v, typ, field) {
			return false
		}
	}
	if p.version == (Version{}) && field != "" && known(Version{5, 0, 0}, typ, "") {
		return known(Version{5, 0, 0}, typ, field)
	}
	return true
}

// must lists the releases that have to know whatever is sent.
func (p Profile) must() []Version {
	if p.version == (Version{}) {
		return []Version{{6, 0, 0}, {7, 0, 0}}
	}
	return []Version{p.version}
}
