package agentkit_test

import (
	"errors"
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// A command of the agent's own that switches its permission requests off is no prompt.
func TestRefuseCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts   []string
		refused bool
	}{
		{[]string{"/config permissionMode=auto"}, true},
		{[]string{" \n/CONFIG"}, true},
		{[]string{"/", "config x=y"}, true},
		{[]string{"\ufeff/config"}, true},
		{[]string{"\x00/con\x00fig x=y"}, true},
		{[]string{"hello", "/config x=y"}, true},
		{[]string{"/configure"}, false},
		{[]string{"what does /config do?"}, false},
		{[]string{"/compact"}, false},
		{[]string{"/"}, false},
		{[]string{""}, false},
		{nil, false},
	} {
		var m trace.UserMessage
		for _, text := range c.parts {
			m.Parts = append(m.Parts, trace.InputPart{Type: trace.InputText, Text: text})
		}
		var refusal *agentkit.PromptError
		if err := agentkit.RefuseCommands(m, []string{"config", "settings"}); errors.As(err, &refusal) != c.refused {
			t.Errorf("%q: %v", c.parts, err)
		}
	}
}
