package agentkit_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
)

func TestATokenThatNamesAMomentCanGoBack(t *testing.T) {
	t.Parallel()
	for token, c := range map[string]struct {
		place   agentkit.Bookmark
		rewinds bool
	}{
		"":    {agentkit.Bookmark{}, true},
		"s":   {agentkit.Bookmark{Conversation: "s"}, false},
		"s@m": {agentkit.Bookmark{Conversation: "s", Moment: "m"}, true},
	} {
		if got := agentkit.ParseBookmark(token); got != c.place || got.Token() != token || agentkit.Rewinds(token) != c.rewinds {
			t.Errorf("%q is %+v, and can go back: %v", token, got, agentkit.Rewinds(token))
		}
	}
}
