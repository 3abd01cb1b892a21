package access

import (
	"cmp"
	"slices"
	"strings"
)

// Claims say how the claims about a person make them a Principal.
type Claims struct {
	// IDClaim names the claim that identifies the person ("sub"), and NameClaim the
	// claim with their display name ("name"). An address of mail identifies nobody unless
	// the claim email_verified beside it is true: many providers let people write any
	// address into their account.
	IDClaim, NameClaim string
	// RoleClaim names the claim that Roles maps to roles: a text, words with spaces
	// between, or a list; "" for none. The greatest role counts. Without Roles the
	// words are the names of roles themselves.
	RoleClaim string
	Roles     map[string]Role
	// DefaultRole is the role of those whose claim gives none; zero: they have none.
	DefaultRole Role
	// GroupClaim names the claim with the groups that somebody belongs to: a text or a
	// list; "" for none.
	GroupClaim string
}

// principal reads claims, or says what is wrong with them.
func (c Claims) principal(claims map[string]any, taken func(id string) bool) (p Principal, why string) {
	named := cmp.Or(c.IDClaim, "sub")
	if p.ID, _ = claim(claims, named).(string); !validID(p.ID) {
		return Principal{}, "it does not say whose it is"
	}
	if (named == "email" || strings.HasSuffix(named, ".email")) && !isTrue(claim(claims, named+"_verified")) {
		return Principal{}, "the address of mail in it is not verified"
	}
	if taken(p.ID) {
		return Principal{}, "the name in it belongs to another token of this gateway"
	}
	if p.Name, _ = claim(claims, cmp.Or(c.NameClaim, "name")).(string); !validID(p.Name) { // it is shown to others
		p.Name = p.ID
	}
	p.Role = c.role(claims)
	if c.GroupClaim != "" {
		p.Groups = texts(claim(claims, c.GroupClaim))
	}
	return p, ""
}

// role is the greatest that the claims give.
func (c Claims) role(claims map[string]any) Role {
	var greatest Role
	if c.RoleClaim == "" {
		return c.DefaultRole
	}
	given := claim(claims, c.RoleClaim)
	names := texts(given)
	if text, ok := given.(string); ok { // one word, or several as in scope
		names = append(names, strings.Fields(text)...)
	}
	for _, name := range names {
		role := c.Roles[name]
		if c.Roles == nil {
			role, _ = parseGatewayRole(name)
		}
		greatest = max(greatest, role)
	}
	return cmp.Or(greatest, c.DefaultRole)
}

// claim finds a claim by its name, or by a path with dots where none has that name.
func claim(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok || name == "" {
		return v
	}
	first, rest, nested := strings.Cut(name, ".")
	below, ok := claims[first].(map[string]any)
	if !nested || !ok {
		return nil
	}
	return claim(below, rest)
}

// isTrue reads a claim that is true, as a boolean or, as some providers write it, as a text.
func isTrue(v any) bool { return v == true || v == "true" }

// names reads a name or a list of names, and reports whether the claim is just that.
func names(v any) ([]string, bool) {
	all := texts(v)
	items, many := v.([]any)
	return all, (many && len(all) == len(items) || !many && len(all) == 1) && !slices.Contains(all, "")
}

// texts reads a text, or the texts of a list.
func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		all := make([]string, 0, len(v))
		for _, item := range v {
			if text, ok := item.(string); ok {
				all = append(all, text)
			}
		}
		return all
	}
	return []string{}
}
