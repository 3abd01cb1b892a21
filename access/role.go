package access

import "fmt"

// Role says how much a principal may do. Roles are ordered: who has one may do
// all that the lesser ones may. The zero Role may do nothing.
type Role int

const (
	// Viewer may read sessions, streams and traces.
	Viewer Role = iota + 1
	// Collaborator may also prompt, stop, and answer questions.
	Collaborator
	// Owner may also answer approvals, and create and delete sessions.
	Owner
)

// Allows reports whether r is enough where need is asked for.
func (r Role) Allows(need Role) bool {
	return r.known() && need.known() && r >= need
}

// String returns the name used in configuration, or "none".
func (r Role) String() string {
	switch r {
	case Viewer:
		return "viewer"
	case Collaborator:
		return "collaborator"
	case Owner:
		return "owner"
	}
	return "none"
}

// ParseRole returns the role of that name.
func ParseRole(name string) (Role, error) {
	for r := Viewer; r <= Owner; r++ {
		if r.String() == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("role %q is unknown; use viewer, collaborator or owner", name)
}

// UnmarshalText reads a role's name, so that configuration can hold one.
func (r *Role) UnmarshalText(text []byte) error {
	role, err := ParseRole(string(text))
	if err != nil {
		return err
	}
	*r = role
	return nil
}

// MarshalText writes the role's name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r Role) known() bool { return r >= Viewer && r <= Owner }
