package agent_test

import (
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/agent"
)

func TestTheBoxOfAnAgentFollowsItsEnvironment(t *testing.T) {
	t.Parallel()
	b := agent.Box{Read: []string{"/srv/a", "${XDG_CONFIG_HOME:-~/.config}/x/", "~/.x", "${CERT}"}, Write: []string{"${X_DIR:-~}/.x.json"}}
	for _, c := range []struct{ environ, read, write []string }{
		{[]string{"HOME=/home/me"}, []string{"/srv/a", "/home/me/.config/x/", "/home/me/.x"}, []string{"/home/me/.x.json"}},
		{[]string{"HOME=/home/me", "XDG_CONFIG_HOME=/c", "X_DIR=/d", "X_DIR=/e", "CERT=/cert"}, []string{"/srv/a", "/c/x/", "/home/me/.x", "/cert"}, []string{"/e/.x.json"}},
		{[]string{"X_DIR=here", "CERT=/"}, []string{"/srv/a"}, nil},
	} {
		if read, write, _ := b.Places(c.environ); !slices.Equal(read, c.read) || !slices.Equal(write, c.write) {
			t.Errorf("%v opens %q and %q", c.environ, read, write)
		}
	}
}
