package session_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tributary-dev/tributary/session"
)

//evidence:for limit-members
func TestMembersHaveABound(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for i := range 1000 {
		if _, err := b.SetMember(t.Context(), "s", fmt.Sprint("m", i), "viewer"); err != nil {
			t.Fatal(err)
		}
	}
	var choice *session.ChoiceError
	if _, err := b.SetMember(t.Context(), "s", "one more", "viewer"); !errors.As(err, &choice) {
		t.Errorf("error %v", err)
	}
	if info, err := b.SetMember(t.Context(), "s", "m7", "owner"); err != nil || info.Members["m7"] != "owner" || len(info.Members) != 1000 {
		t.Errorf("%d members, %v: who is one may get another role", len(info.Members), err)
	}
	if info, err := b.SetMember(t.Context(), "s", "m7", ""); err != nil || len(info.Members) != 999 {
		t.Errorf("%d members, %v", len(info.Members), err)
	}
	if _, err := b.SetMember(t.Context(), "none", "m", "viewer"); !errors.Is(err, session.ErrUnknownSession) {
		t.Errorf("error %v", err)
	}
}
