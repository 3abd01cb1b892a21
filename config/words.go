package config

import (
	"reflect"

	"github.com/tributary-dev/tributary/access"
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
		return list(session.Grace, session.Stop, session.Detach)
	case reflect.TypeFor[session.Busy]():
		return list(session.Queue, session.Reject, session.Interrupt)
	case reflect.TypeFor[session.Approval]():
		return list(session.Pause, session.Hold)
	case reflect.TypeFor[access.Mode]():
		return list(access.ModeToken, access.ModeJWT, access.ModeNone)
	case reflect.TypeFor[Sharing]():
		return list(Shared, Private)
	case reflect.TypeFor[ToolOutput]():
		return list(IgnoreToolOutput, RejectToolOutput)
	case reflect.TypeFor[permission.Verdict]():
		return list(permission.Allow, permission.Deny, permission.Ask)
	case reflect.TypeFor[permission.GrantScope]():
		return list(permission.GrantOnce, permission.GrantSession, permission.GrantAlways)
	case reflect.TypeFor[trace.ToolKind]():
		return list(toolkind.Kinds()...)
	case reflect.TypeFor[LogLevel]():
		return LogLevels()
	case reflect.TypeFor[Compat]():
		return list(CompatRFC)
	case reflect.TypeFor[Fsync]():
		return list(FsyncOn, FsyncOff)
	case reflect.TypeFor[spaces.Form]():
		return list(spaces.Shared, spaces.OwnWorktree, spaces.OwnCopy)
	case reflect.TypeFor[Subagents]():
		return list(SubagentsPart, SubagentsInline, SubagentsPreliminary, SubagentsHidden)
	}
	return nil
}

// LogLevels lists the levels.
func LogLevels() []string { return []string{"debug", "info", "warn", "error"} }

func list[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return out
}
