package agentkit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
)

type counts int

func (c *counts) Decode(agent.Message, agent.Turns) ([]agent.Effect, error) { *c++; return nil, nil }

// A large text is one value, and a message of very many small values is not decoded.
func TestAMessageOfVeryManyValuesIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data    string
		refused bool
	}{
		"a large text":                {`{"text":"` + strings.Repeat(`,[{\"`, 1<<19) + `"}`, false},
		"many values":                 {`[` + strings.Repeat("0,", 1<<17) + `0]`, false},
		"very many values":            {`[` + strings.Repeat("0,", 1<<18) + `0]`, true},
		"very many behind a text":     {`{"text":"a\\\\","all":[` + strings.Repeat("{},", 1<<18) + `{}]}`, true},
		"very many that do not close": {strings.Repeat("[", 1<<19), true},
	} {
		var decoded counts
		_, err := agentkit.Decode(&decoded, agent.Message{Data: []byte(c.data)}, nil)
		if errors.Is(err, agentkit.ErrTooManyValues) != c.refused || (decoded == 0) != c.refused {
			t.Errorf("%s: decoded %d times, %v", name, decoded, err)
		}
	}
}
