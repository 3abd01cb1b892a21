package agentkit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/procio"
)

func TestASystemThatRunsNoProgramsIsNamedInOneSentence(t *testing.T) {
	t.Parallel()
	missing := errors.New("install it")
	for name, err := range map[string]error{
		"a probe": agentkit.Spec{Adapter: "claude", Command: "claude", NotFound: missing}.Unversioned(procio.ErrUnsupported),
		"a start": agentkit.Unstarted("claude", "claude", missing, procio.ErrUnsupported),
	} {
		if !errors.Is(err, procio.ErrUnsupported) || !strings.HasPrefix(err.Error(), "claude: agents that are programs need Linux or macOS") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
