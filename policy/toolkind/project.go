package toolkind

import "github.com/tributary-dev/tributary/trace"

// Touchstone returns the kind in the vocabulary of the touchstone traces, which has
// six kinds: read, write, execute, search, fetch and other.
func Touchstone(k trace.ToolKind) string {
	switch k {
	case trace.ToolRead, trace.ToolExecute, trace.ToolSearch, trace.ToolFetch:
		return string(k)
	case trace.ToolEdit, trace.ToolDelete, trace.ToolMove:
		return "write"
	default:
		return "other"
	}
}

// Common is a name of a tool in the vocabulary that the harnesses of the AI SDK share.
type Common string

// The names of the AI SDK's harness. CommonAskUser is newer than the other seven.
const (
	CommonRead      Common = "read"
	CommonWrite     Common = "write"
	CommonEdit      Common = "edit"
	CommonBash      Common = "bash"
	CommonGrep      Common = "grep"
	CommonGlob      Common = "glob"
	CommonWebSearch Common = "webSearch"
	CommonAskUser   Common = "askUserQuestions"
)

// CommonNames lists the names of the AI SDK's harness.
func CommonNames() []Common {
	return []Common{CommonRead, CommonWrite, CommonEdit, CommonBash, CommonGrep, CommonGlob, CommonWebSearch, CommonAskUser}
}

// Common returns the name that the AI SDK's harness has for the agent's tool, or ""
// where the harness keeps the agent's own name.
func (t Table) Common(rawName string) Common { return t.rules[rawName].common }
