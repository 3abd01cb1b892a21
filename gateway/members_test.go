package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway"
)

// The guard says whom a name means, and whether it has met that person.
func TestAMemberIsSomebodyWhomTheGuardKnows(t *testing.T) {
	t.Parallel()
	gone := false
	s := newStandWith(t, func(o *gateway.Options) {
		o.Person = func(_ context.Context, name string) (string, bool, error) {
			switch {
			case name == "bob" && !gone:
				return "token:bob", true, nil
			case name == "new":
				return name, false, nil
			}
			return "", false, &access.NoPersonError{Sentence: "nobody has the name " + name}
		}
	})
	root := as("root", "admin")
	s.do("POST", "/api/sessions", `{"id":"s"}`, root...)
	for _, c := range []struct {
		who, body string
		status    int
		want      string
	}{
		{"bob", `{"role":"viewer"}`, 200, `{"members":{"token:bob":"viewer"},"principal":"token:bob"}`},
		{"new", `{"role":"viewer"}`, 200, `{"members":{"new":"viewer","token:bob":"viewer"},"principal":"new","unknown":true}`},
		{"zoe", `{"role":"viewer"}`, 400, `"code":"unknown_person"`},
		{"zoe", `{"role":"viewer"}`, 400, `"error":"Nobody has the name zoe."`},
	} {
		if status, _, body := s.do("PUT", "/api/sessions/s/members/"+c.who, c.body, root...); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.who, status, body)
		}
	}
	gone = true // a member whom nobody knows any more can get another role, and be removed
	s.all([]asked{
		{"root", "admin", "PUT", "/api/sessions/s/members/token:bob", `{"role":"owner"}`, 200},
		{"root", "admin", "DELETE", "/api/sessions/s/members/token:bob", "", 200},
		{"root", "admin", "PUT", "/api/sessions/s/members/bob", `{"role":"viewer"}`, 400},
	})
}
