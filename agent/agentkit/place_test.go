package agentkit_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
)

func TestATokenThatNamesAMomentCanGoBack(t *testing.T) {
	t.Parallel()
	for token, c := range map[string]struct {
		place   agentkit.Place
		rewinds bool
	}{
		"":    {agentkit.Place{}, true},
		"s":   {agentkit.Place{Conversation: "s"}, false},
		"s@m": {agentkit.Place{Conversation: "s", Moment: "m"}, true},
	} {
		if got := agentkit.ParsePlace(token); got != c.place || got.Token() != token || agentkit.Rewinds(token) != c.rewinds {
			t.Errorf("%q is %+v, and can go back: %v", token, got, agentkit.Rewinds(token))
		}
	}
}
