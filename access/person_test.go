package access

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Whom a name means: the holder of a token, somebody who is signed in, or nobody. An open guard
// has an OpenID provider or JSON Web Tokens, which bring people that it has not met.
func TestWhomANameMeans(t *testing.T) {
	t.Parallel()
	store := NewMemory()
	for _, name := range []string{"carl", "two"} {
		if _, err := CreateToken(t.Context(), store, Named{Name: name, Role: Viewer}); err != nil {
			t.Fatal(err)
		}
	}
	g := newGuard(t, func(c *Config) {
		c.Store = store
		c.PassThrough = "far"
		c.Groups = map[string][]string{"ops": {"sub-1", "sub-2"}}
	})
	for _, p := range []Principal{{ID: "sub-9", Name: "Dora Doe", Role: Viewer}, {ID: "sub-8", Name: "two", Role: Viewer}} {
		if _, _, err := g.signIn(t.Context(), p, byOIDC, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct{ id, sentence string }{
		"operator":   {"operator", ""},
		"wall":       {"wall", ""},
		"carl":       {"token:carl", ""},
		"token:carl": {"token:carl", ""},
		"sub-2":      {"sub-2", ""},
		"sub-9":      {"sub-9", ""},
		"Dora Doe":   {"sub-9", ""},
		"two":        {"", "several people are called"},
		"ops":        {"", "is a group: add its people one by one"},
		"group:ops":  {"", "is a group: add its people one by one"},
		"far:ann":    {"", "the server of the agent far says"},
		"Wall":       {"", "nobody has the name"},
		"bob":        {"", "nobody has the name"},
	} {
		for _, open := range []bool{false, true} {
			g.openID = nil
			if open {
				g.openID = &openID{}
			}
			id, known, err := g.Person(t.Context(), name)
			if unmet := open && strings.HasPrefix(want.sentence, "nobody"); unmet {
				if id != name || known || err != nil {
					t.Errorf("%s, with a provider: %q %v %v", name, id, known, err)
				}
				continue
			}
			nobody, is := errors.AsType[*NoPersonError](err)
			if id != want.id || known != (want.id != "") || is != (want.sentence != "") || is && !strings.Contains(nobody.Sentence, want.sentence) {
				t.Errorf("%s: %q %v %v", name, id, known, err)
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := RevokeToken(ctx, store, "carl"); err != nil {
		t.Fatal(err)
	}
	g.openID = nil
	if _, _, err := g.Person(ctx, "carl"); err == nil {
		t.Error("a token that was revoked has a holder")
	}
}
