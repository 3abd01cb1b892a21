package tributary_test

import (
	"go/constant"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/access"
)

// onlyBehaviour stands for a default that is no constant: the program treats a missing key like this value. A test of
// internal/cli compares most of them.
const onlyBehaviour = ""

// defaultSources says where the program has the defaults of docs/reference/configuration.md, in the form of limitSources.
func defaultSources() map[string]string {
	return map[string]string{
		"listen":                      "internal/cli defaultListen",
		"fsync":                       onlyBehaviour,
		"default_agent":               "internal/cli defaultAgent",
		"log_level":                   onlyBehaviour,
		"backup.every":                "config defaultBackupEvery",
		"backup.keep":                 "config defaultBackupKeep",
		"auth.mode":                   "access g.mode",
		"auth.sessions":               onlyBehaviour,
		"auth.foreign_session":        onlyBehaviour,
		"auth.allow_origins":          onlyBehaviour,
		"auth.approver":               onlyBehaviour,
		"auth.sign_in_lifetime":       "access defaultLifetime",
		"auth.admin_token":            onlyBehaviour,
		"auth.oidc.scopes":            onlyBehaviour,
		"auth.oidc.id_claim":          "access c.IDClaim",
		"auth.oidc.name_claim":        "access c.NameClaim",
		"auth.jwt.leeway":             "access defaultLeeway",
		"auth.jwt.id_claim":           "access c.IDClaim",
		"auth.jwt.name_claim":         "access c.NameClaim",
		"auth.jwt.default_role":       "access c.DefaultRole",
		"sessions.on_disconnect":      "session &o.OnDisconnect",
		"sessions.grace":              "session &o.GracePeriod",
		"sessions.grace_limit":        "session &o.GraceLimit",
		"sessions.busy":               "session &o.Busy",
		"sessions.approval":           "session &o.Approval",
		"sessions.hold_limit":         "session &o.HoldLimit",
		"sessions.answer_limit":       "session &o.AnswerLimit",
		"sessions.idle_limit":         "session &o.IdleLimit",
		"sessions.stop_patience":      "session &o.StopPatience",
		"sessions.drain":              "internal/cli drainWithin",
		"sessions.agent_idle":         "session &o.AgentIdle",
		"sessions.evict_after":        "session &o.EvictAfter",
		"sessions.max_agents":         "session &o.MaxAgents",
		"sessions.max_queue":          "session &o.MaxQueue",
		"sessions.replay":             "session &o.Replay",
		"sessions.client_tool_output": onlyBehaviour,
		"limits.requests":             "gateway/limit &o.Requests",
		"limits.burst":                "gateway/limit &o.Burst",
		"limits.streams":              "gateway/limit &o.Streams",
		"limits.prompts":              "session &o.MaxPrompts",
		"limits.clients":              "gateway/limit &o.Clients",
		"limits.connections":          "internal/cli newConnections.byDefault",
		"limits.turn_bytes":           "session &o.MaxTurnBytes",
		"limits.turn_records":         "session &o.MaxTurnRecords",
		"stream.event_lines":          onlyBehaviour,
		"stream.client":               onlyBehaviour,
		"stream.subagents":            onlyBehaviour,
		"stream.keepalive":            "uistream keepaliveEvery",
		"stream.write_timeout":        "uistream writeWithin",
		"agents.enabled":              onlyBehaviour,
		"agents.workspace":            onlyBehaviour,
		"policy.remember.scope":       "policy/permission g.Scope",
		"exporters.content":           onlyBehaviour,
	}
}

// Each default that docs/reference/configuration.md gives as a value, in backquotes at the beginning of its cell, is
// the program's own. `false`, `[]` and `{}` are what a missing key is to the program.
func TestThePageOfTheConfigurationHasTheDefaultsOfTheProgram(t *testing.T) {
	sources, seen, program, section := defaultSources(), map[string]bool{}, constants{}, ""
	row := regexp.MustCompile("^\\| `([^`]+)` \\| `([^`]+)`")
	for line := range strings.Lines(text(t, "docs/reference/configuration.md")) {
		if strings.HasPrefix(line, "#") {
			section = strings.TrimPrefix(strings.Trim(line, "#` \n")+".", "Top level.")
		}
		cells := row.FindStringSubmatch(line)
		if cells == nil || slices.Contains([]string{"false", "[]", "{}"}, cells[2]) {
			continue
		}
		key, value := section+cells[1], cells[2]
		from, known := sources[key]
		seen[key] = true
		switch {
		case !known:
			t.Errorf("docs/reference/configuration.md has the default %s of %s: say in defaultSources where the program has it", value, key)
		case from == onlyBehaviour:
		default:
			if own, err := program.constant(from); err != nil {
				t.Errorf("%s: %v", key, err)
			} else if !same(own, value) {
				t.Errorf("the default of %s is %s on the page, and %s in the program (%s)", key, value, own, from)
			}
		}
	}
	for key := range sources {
		if !seen[key] {
			t.Errorf("docs/reference/configuration.md gives no value as the default of %s", key)
		}
	}
}

// same compares a constant with a value of the configuration.
func same(c constant.Value, value string) bool {
	if c.Kind() == constant.String {
		return constant.StringVal(c) == value
	}
	var role access.Role
	n, _ := constant.Int64Val(constant.ToInt(c)) // those of the program are whole numbers
	if d, err := time.ParseDuration(value); err == nil {
		return n == int64(d)
	}
	if role.UnmarshalText([]byte(value)) == nil {
		return n == int64(role)
	}
	return slices.Equal(numbersIn(value), []int64{n})
}
