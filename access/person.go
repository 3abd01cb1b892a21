package access

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// NoPersonError says in a sentence why a name cannot be given a role in a session.
type NoPersonError struct{ Sentence string }

// Error implements error.
func (e *NoPersonError) Error() string { return e.Sentence }

// Person finds a person by the ID of a Principal, or by its Name if only one person has that. known is
// false for a name that the guard has not met. A JSON Web Token or the OpenID provider may still bring
// such a person. Without either of them the error is a NoPersonError. A group and people of another side
// have that error, too.
func (g *Guard) Person(ctx context.Context, name string) (id string, known bool, err error) {
	if g.side != "" && strings.HasPrefix(name, PassThroughID(g.side, "")) {
		return "", false, &NoPersonError{"the server of the agent " + g.side + " says what its users may do here: invite them there"}
	}
	people, err := g.people(ctx)
	if err != nil {
		return "", false, err
	}
	if slices.ContainsFunc(people, func(p Principal) bool { return p.ID == name }) {
		return name, true, nil
	}
	var called []string
	for _, p := range people {
		if p.Name == name && !slices.Contains(called, p.ID) {
			called = append(called, p.ID)
		}
	}
	_, isGroup := g.groups[name]
	switch {
	case len(called) == 1:
		return called[0], true, nil
	case len(called) > 1:
		return "", false, &NoPersonError{fmt.Sprintf("several people are called %s here: use the name that the gateway has for the one you mean, %s", quote(name), strings.Join(called, " or "))}
	case isGroup || strings.HasPrefix(name, groupMark):
		return "", false, &NoPersonError{fmt.Sprintf("%s is a group: add its people one by one", quote(name))}
	case g.jwt == nil && g.openID == nil:
		return "", false, &NoPersonError{fmt.Sprintf("nobody has the name %s here: ask the person for the name at the lower left of their page, or have a token made with that name", quote(name))}
	}
	return name, false, nil
}

// people are those whom the guard knows by name: holders of tokens, people of the configured groups,
// and those who are signed in.
func (g *Guard) people(ctx context.Context) (all []Principal, err error) {
	for _, c := range g.keys {
		all = append(all, c.principal)
	}
	for _, ids := range g.groups {
		for _, id := range ids {
			all = append(all, Principal{ID: id, Name: id})
		}
	}
	tokens, err := Tokens(ctx, g.tokens.Store)
	if err != nil {
		return nil, err
	}
	for _, t := range tokens {
		all = append(all, t.principal())
	}
	signedIn, err := SignIns(ctx, g.signIns.Store)
	for _, s := range signedIn {
		all = append(all, Principal{ID: s.User, Name: s.Name})
	}
	return all, err
}
