package access

import "fmt"

// Role is what a principal may do. Roles are ordered: a role has all rights of the lesser
// ones. The zero Role has no rights.
type Role int

const (
	// Viewer may read sessions, streams and traces.
	Viewer Role = iota + 1
	// Collaborator may also prompt, stop, and answer questions.
	Collaborator
	// Owner is a role in a session: the owner may also delete it, and invite others.
	Owner
	// Admin is a role of the gateway: an admin may do everything in all sessions, and
	// answers permission requests unless the configuration names others.
	Admin
)

// Allows reports whether r has the rights of need.
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
	case Admin:
		return "admin"
	}
	return "none"
}

// ParseRole returns the role in a session of that name.
func ParseRole(name string) (Role, error) {
	for r := Viewer; r <= Owner; r++ {
		if r.String() == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("role %q is unknown; use viewer, collaborator or owner", name)
}

// parseGatewayRole returns the role of the gateway of that name.
func parseGatewayRole(name string) (Role, error) {
	switch name {
	case Admin.String():
		return Admin, nil
	case Viewer.String(), Collaborator.String():
		return ParseRole(name)
	case Owner.String():
		return 0, fmt.Errorf("role %q is a role in a session; of the gateway there are viewer, collaborator and admin", name)
	}
	return 0, fmt.Errorf("role %q is unknown; use viewer, collaborator or admin", name)
}

// UnmarshalText reads the name of a role of the gateway, so that configuration can hold
// one.
func (r *Role) UnmarshalText(text []byte) error {
	role, err := parseGatewayRole(string(text))
	if err != nil {
		return err
	}
	*r = role
	return nil
}

// MarshalText writes the role's name.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

func (r Role) known() bool { return r >= Viewer && r <= Admin }

// ofGateway reports whether a principal may have the role in the gateway.
func (r Role) ofGateway() bool { return r.known() && r != Owner }
