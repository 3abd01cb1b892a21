package logtest

import (
	"bytes"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
)

// wantGrants checks the documents of an agent's grants.
func wantGrants(t *testing.T, s eventlog.Store, agent, want string) {
	t.Helper()
	docs, err := s.Grants(t.Context(), agent)
	if got := string(bytes.Join(docs, []byte(" "))); err != nil || got != want {
		t.Errorf("the grants for %s are %q, %v, want %q", agent, got, err, want)
	}
}

func granting(t *testing.T, s eventlog.Store) {
	ctx := t.Context()
	wantGrants(t, s, "a", "")
	must(t, s.AddGrant(ctx, "a", "g2", []byte(`{"n":2}`), 3))
	must(t, s.AddGrant(ctx, "a", "g1", []byte(`{"n":1}`), 3))
	must(t, s.AddGrant(ctx, "b", "g0", []byte(`{"n":0}`), 3))
	must(t, s.AddGrant(ctx, "a", "g1", []byte(`{"n":7}`), 3)) // it is there
	wantGrants(t, s, "a", `{"n":1} {"n":2}`)
	must(t, s.AddGrant(ctx, "a", "g3", []byte(`{"n":3}`), 3))
	must(t, s.AddGrant(ctx, "a", "g4", []byte(`{"n":4}`), 3))
	wantGrants(t, s, "a", `{"n":2} {"n":3} {"n":4}`)
	for _, c := range []struct {
		agent, id string
		there     bool
	}{{"b", "g3", false}, {"a", "g3", true}, {"a", "g3", false}} {
		if there, err := s.RemoveGrant(ctx, c.agent, c.id); err != nil || there != c.there {
			t.Errorf("%s of %s was there: %v, %v", c.id, c.agent, there, err)
		}
	}
	wantGrants(t, s, "a", `{"n":2} {"n":4}`)
	wantGrants(t, s, "b", `{"n":0}`)
}

// grantsElsewhere checks that both stores have the same grants, after each change.
func grantsElsewhere(t *testing.T, open Pair) {
	first, second := open(t, hang, hang)
	must(t, first.AddGrant(t.Context(), "a", "g1", []byte(`{"n":1}`), 3))
	wantGrants(t, second, "a", `{"n":1}`)
	if there, err := second.RemoveGrant(t.Context(), "a", "g1"); err != nil || !there {
		t.Errorf("the grant was there: %v, %v", there, err)
	}
	wantGrants(t, first, "a", "")
}
