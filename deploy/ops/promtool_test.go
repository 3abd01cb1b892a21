// Package ops_test has Prometheus itself check the files of this folder.
package ops_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// promtool runs the program that make test and make ops name. Without a program the test is
// skipped.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	program := os.Getenv("PROMTOOL")
	if program == "" {
		t.Skip("PROMTOOL names no promtool: run make ops")
	}
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

type ruleFile struct {
	Groups []struct {
		Rules []struct {
			Record, Alert, Expr string
		}
	}
}

func rules(t *testing.T) (f ruleFile) {
	t.Helper()
	data, err := os.ReadFile("rules.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestI05_RulesAreRulesToPrometheus(t *testing.T) {
	t.Parallel()
	promtool(t, "check", "rules", "--lint-fatal", "rules.yaml", "rfc.yaml")
}

func TestI05_AlertsFireForWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	promtool(t, "test", "rules", "rules.test.yaml")
}

// Each alert has a case in which it fires, and one in which it does not.
func TestEachAlertIsTestedBothWays(t *testing.T) {
	t.Parallel()
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name string `yaml:"alertname"`
				Want []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	data, err := os.ReadFile("rules.test.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &tests)
	}
	if err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range tests.Tests {
		for _, a := range test.Alerts {
			if len(a.Want) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
	}
	alerts := 0
	for _, g := range rules(t).Groups {
		for _, r := range g.Rules {
			if r.Alert == "" {
				continue
			}
			alerts++
			if !fires[r.Alert] || !silent[r.Alert] {
				t.Errorf("%s: a case in which it fires: %v; in which it does not: %v", r.Alert, fires[r.Alert], silent[r.Alert])
			}
		}
	}
	if alerts < 5 {
		t.Errorf("only %d alerts were found", alerts)
	}
}

// The dashboard asks in PromQL: Prometheus reads each of its expressions as a rule.
func TestTheDashboardAsksInPromQL(t *testing.T) {
	t.Parallel()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	data, err := os.ReadFile("dashboard.json")
	if err == nil {
		err = json.Unmarshal(data, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var asked []rule
	for _, p := range board.Panels {
		if len(p.Targets) == 0 {
			t.Errorf("the panel %q asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			// Grafana puts a regular expression where a variable stands.
			expr := strings.NewReplacer("$job", ".*", "$agent", ".*").Replace(target.Expr)
			if strings.Contains(expr, "$") {
				t.Errorf("the panel %q uses a variable that is not there: %s", p.Title, target.Expr)
			}
			asked = append(asked, rule{Record: "asked", Expr: expr})
		}
	}
	file := filepath.Join(t.TempDir(), "asked.yaml")
	out, err := json.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": asked}}}) // JSON is YAML
	if err == nil {
		err = os.WriteFile(file, out, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", "--lint=none", file)
}
