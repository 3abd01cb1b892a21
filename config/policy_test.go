package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/policy/permission"
)

func TestPolicyOfAnAgent(t *testing.T) {
	t.Parallel()
	c, err := config.Read([]byte(`
agents:
  coder:
    adapter: demo
    policy:
      rules:
        - {paths: [src/**, "*.md"], then: allow}
        - {commands: [go test *], then: allow}
      script:
        - {tool: Bash, then: deny, reason: not today}
      remember: {scope: always, for: 8h}
`), "c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := c.Agents["coder"].Policy
	if len(p.Rules) != 2 || p.Rules[0].Paths[0] != "src/**" || p.Rules[1].Commands[0] != "go test *" || len(p.Script) != 1 || p.Script[0].Reason != "not today" ||
		p.Remember != (permission.Remember{Scope: permission.GrantAlways, For: 8 * time.Hour}) {
		t.Errorf("policy %+v", p)
	}
	for wrong, want := range map[string]string{
		"rules: [{paths: [/etc/**], then: allow}]":              "/etc/**",
		"rules: [{commands: ['a; b'], then: allow}]":            "a; b",
		"script: [{tool: x}]":                                   "write allow, deny or ask",
		"{rules: [{then: allow}], remember: {scope: for_ever}}": "for_ever",
		"{rules: [{then: allow}], remember: {for: -1h}}":        "-1h",
	} {
		_, err := config.Read([]byte("agents:\n  coder:\n    adapter: demo\n    policy:\n      "+wrong+"\n"), "c.yaml")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
