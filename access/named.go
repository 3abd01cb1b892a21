package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Named is a token that `tributary token create` made. Only its hash is kept.
type Named struct {
	Name    string
	Role    Role
	Created time.Time
	Expires time.Time // zero: never
}

// namedMark begins the ID of the holder of a Named, so that no other principal has it.
const namedMark = "token:"

type namedDoc struct {
	Role Role `json:"role"`
}

func digestOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// CreateToken makes a token and keeps its hash. A zero expiry is never.
func CreateToken(ctx context.Context, s Store, n Named) (token string, err error) {
	switch {
	case !validID(n.Name) || strings.TrimSpace(n.Name) != n.Name || len(n.Name) > 64:
		return "", fmt.Errorf("the name %s cannot be used: write 1 to 64 characters that can be printed", quote(n.Name))
	case !n.Role.ofGateway():
		return "", fmt.Errorf("the token %q has no role: write viewer, collaborator or admin", n.Name)
	case !n.Expires.IsZero() && !n.Expires.After(time.Now()):
		return "", fmt.Errorf("the token %q would have expired already: choose a later time", n.Name)
	}
	doc, err := json.Marshal(namedDoc{n.Role})
	if err != nil {
		return "", err
	}
	token = newToken()
	err = s.Put(ctx, KindToken, Entry{ID: digestOf(token), Name: n.Name, Created: time.Now(), Expires: n.Expires, Doc: doc})
	if errors.Is(err, ErrTaken) {
		return "", fmt.Errorf("there is a token %q already: revoke it first, or choose another name", n.Name)
	}
	return token, err
}

// Tokens lists the tokens of a store, the oldest first.
func Tokens(ctx context.Context, s Store) ([]Named, error) {
	entries, err := s.List(ctx, KindToken, "")
	if err != nil {
		return nil, err
	}
	all := make([]Named, len(entries))
	for i, e := range entries {
		if all[i], err = readNamed(e); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// RevokeToken removes a token. Gateways that use the store refuse it within seconds.
func RevokeToken(ctx context.Context, s Store, name string) error {
	err := s.Delete(ctx, KindToken, name)
	if errors.Is(err, ErrUnknown) {
		return fmt.Errorf("there is no token %s: `tributary token list` shows the tokens", quote(name))
	}
	return err
}

func readNamed(e Entry) (Named, error) {
	var doc namedDoc
	if err := json.Unmarshal(e.Doc, &doc); err != nil {
		return Named{}, fmt.Errorf("the entry of the token %q cannot be read: %w", e.Name, err)
	}
	return Named{e.Name, doc.Role, e.Created, e.Expires}, nil
}

// principal is the holder of a token.
func (n Named) principal() Principal {
	return Principal{ID: namedMark + n.Name, Name: n.Name, Role: n.Role, Expires: n.Expires}
}
