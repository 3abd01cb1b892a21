package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/accessdb"
	"github.com/tributary-dev/tributary/config"
)

// people says who can use a gateway. It decides which agents are offered, the box that they have by
// default, the warnings, and whether the file of the admin token keeps the token itself.
type people int

const (
	severalPeople people = iota // others than the holder of the admin token
	onePerson                   // nobody else has a token, but the gateway may be reached from elsewhere, or without one
	oneHere                     // the person who starts the gateway, from this machine
)

// peopleOf finds them by the configuration, and by whether somebody has created a token.
func peopleOf(c config.Config, created bool) people {
	switch mode := cmp.Or(c.Auth.Mode, access.ModeToken); {
	case created, mode == access.ModeJWT, c.Auth.OIDC != nil, len(c.Auth.Tokens) > 0, c.Auth.PassThrough != "":
		return severalPeople
	case mode != access.ModeToken, c.PublicURL != "", len(c.TrustedProxies) > 0, !access.Loopback(c.Listen):
		return onePerson
	}
	return oneHere
}

// countTokens looks for created tokens, once, before a gateway starts, and changes nothing. With one, the
// agents are those of a gateway of several people. agent is the one that the command line names. If the
// store cannot be read, known is false, and no agent has the box of a gateway for one person.
func (s *setup) countTokens(ctx context.Context, data, db, agent string) (known bool, err error) {
	if s.people == severalPeople {
		return true, nil
	}
	created, err := accessdb.Any(ctx, data, db, access.KindToken)
	if err != nil {
		s.people = onePerson
		return false, nil //nolint:nilerr // the error may have the password of the database; a start says why
	}
	s.people = peopleOf(s.Config, created)
	if s.people == severalPeople {
		s.Agents = maps.Clone(s.named)
		s.offer(false)
		err = s.choose(agent)
	}
	return true, err
}

// checkTokens refuses to start for one person where there is a created token after all.
func (s *setup) checkTokens(ctx context.Context, store access.Store) error {
	created, err := access.Tokens(ctx, store)
	if err == nil && peopleOf(s.Config, len(created) > 0) == severalPeople && s.people != severalPeople {
		return errors.New("a token was created while the gateway started, which makes it a gateway of several people: start it again")
	}
	return err
}
