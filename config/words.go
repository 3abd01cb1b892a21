package config

import (
	"reflect"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/internal/yamlfile"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// words lists what may stand for a type that is a closed set of words.
func words(t reflect.Type) []string {
	switch t {
	case reflect.TypeFor[session.OnDisconnect]():
		return yamlfile.Words(session.Grace, session.Stop, session.Detach)
	case reflect.TypeFor[session.Busy]():
		return yamlfile.Words(session.Queue, session.Reject, session.Interrupt)
	case reflect.TypeFor[session.Approval]():
		return yamlfile.Words(session.Pause, session.Hold)
	case reflect.TypeFor[session.AgentState]():
		return yamlfile.Words(session.StateNode, session.StateShared)
	case reflect.TypeFor[access.Mode]():
		return yamlfile.Words(access.ModeToken, access.ModeJWT, access.ModeNone)
	case reflect.TypeFor[AdminToken]():
		return yamlfile.Words(AdminTokenOn, AdminTokenOff)
	case reflect.TypeFor[Sharing]():
		return yamlfile.Words(Shared, Private)
	case reflect.TypeFor[ToolOutput]():
		return yamlfile.Words(IgnoreToolOutput, RejectToolOutput)
	case reflect.TypeFor[permission.Verdict]():
		return yamlfile.Words(permission.Allow, permission.Deny, permission.Ask)
	case reflect.TypeFor[permission.GrantScope]():
		return yamlfile.Words(permission.GrantOnce, permission.GrantSession, permission.GrantAlways)
	case reflect.TypeFor[trace.ToolKind]():
		return yamlfile.Words(toolkind.Kinds()...)
	case reflect.TypeFor[LogLevel]():
		return LogLevels()
	case reflect.TypeFor[Compat]():
		return yamlfile.Words(CompatRFC)
	case reflect.TypeFor[Fsync]():
		return yamlfile.Words(FsyncOn, FsyncOff)
	case reflect.TypeFor[Content]():
		return append([]string{"all", "none"}, yamlfile.Words(redact.Classes()...)...)
	case reflect.TypeFor[spaces.Form]():
		return yamlfile.Words(spaces.Shared, spaces.OwnWorktree, spaces.OwnCopy)
	case reflect.TypeFor[box.Form]():
		return yamlfile.Words(box.Guard, box.Strict, box.Off)
	case reflect.TypeFor[Subagents]():
		return yamlfile.Words(SubagentsPart, SubagentsInline, SubagentsPreliminary, SubagentsHidden)
	}
	return nil
}

// LogLevels lists the levels.
func LogLevels() []string { return []string{"debug", "info", "warn", "error"} }
