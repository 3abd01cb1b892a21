package access

import (
	"fmt"
	"slices"
	"strings"
)

// A Who names a set of people: those with at least a role of the gateway, or the
// members of a group.
type Who struct {
	Role  Role
	Group string
}

const groupMark = "group:"

// Includes reports whether p is among the people that w names.
func (w Who) Includes(p Principal) bool {
	if w.Group != "" {
		return slices.Contains(p.Groups, w.Group)
	}
	return p.Role.Allows(w.Role)
}

// Any reports whether p is among the people that one of them names.
func Any(all []Who, p Principal) bool {
	return slices.ContainsFunc(all, func(w Who) bool { return w.Includes(p) })
}

// String returns what configuration writes.
func (w Who) String() string {
	if w.Group != "" {
		return groupMark + w.Group
	}
	return w.Role.String()
}

// UnmarshalText reads the name of a role of the gateway, or group: and the name of a
// group.
func (w *Who) UnmarshalText(text []byte) error {
	if group, ok := strings.CutPrefix(string(text), groupMark); ok {
		if !validID(group) {
			return fmt.Errorf("%q names no group: write group:NAME", text)
		}
		*w = Who{Group: group}
		return nil
	}
	role, err := parseGatewayRole(string(text))
	if err != nil {
		return fmt.Errorf("%w; a group is written as group:NAME", err)
	}
	*w = Who{Role: role}
	return nil
}
