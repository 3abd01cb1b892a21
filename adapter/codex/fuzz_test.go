package codex_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

func FuzzDecode(f *testing.F) {
	recordings().Fuzz(f,
		[]byte(begin+done(`{"type":"agentMessage","id":"m","text":"a"}`)+end),
		[]byte(begin+started(`{"type":"fileChange","id":"c","changes":[{"path":"/a","kind":{"type":"add"},"diff":"x"}]}`)+requestLine(1, "item/fileChange/requestApproval", `"itemId":"c"`)+toAgent(`{"id":1,"result":{"decision":"accept"}}`)+done(`{"type":"fileChange","id":"c","changes":[{"path":"/a","kind":"delete","diff":"x"}],"status":"completed"}`)+end),
		[]byte(begin+requestLine(1, "mcpServer/elicitation/request", `"requestedSchema":{"properties":{"a":{"type":"array"}}}`)+toAgent(`{"id":1,"result":{"action":"accept","content":{"a":[1]}}}`)+out("error", `"willRetry":true`)+end),
		[]byte(begin+requestLine(1, "item/tool/requestUserInput", `"questions":[{"id":"q"}]`)+out("serverRequest/resolved", `"requestId":1`)+toAgent(`{"method":"turn/interrupt","params":{}}`)+end),
		[]byte(`{"type":"thread.started","thread_id":"t"}`+"\n"+`{"type":"turn.started"}`+"\n"+`{"type":"item.completed","item":{"id":"i","type":"command_execution","exit_code":1}}`+"\n"+`{"type":"turn.failed","error":{"message":"m"}}`),
	)
}

// TestLostDoubledAndMovedLines plays recordings that were damaged line by line.
func TestLostDoubledAndMovedLines(t *testing.T) {
	t.Parallel()
	recordings().Damaged(t, 6)
}

// TestTheAgentsHalfAloneIsEnough: a recording of the agent's output alone shows the
// same words.
func TestTheAgentsHalfAloneIsEnough(t *testing.T) {
	t.Parallel()
	// A notice of the time before the turn is outside of it where nothing began the turn.
	warning := strings.NewReplacer("notes warning ", "", "notes retry ", "")
	recordings().Alone(t, func(l replaytest.Line, raw []byte) []byte {
		if l.Dir == "in" {
			return nil
		}
		return raw
	}, func(events []trace.Event) string { return warning.Replace(shown(events)) })
}
