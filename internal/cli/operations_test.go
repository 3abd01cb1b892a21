package cli

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// allMetrics is a configuration with which every metric is there.
const allMetrics = "exporters: {x: {url: 'http://127.0.0.1:9'}}\nbackup: {dir: copies}"

// ruleFiles are the files of rules in ops.
func ruleFiles() []string { return []string{"rules.yaml", "rfc.yaml"} }

// query is an expression in ops, with the text that shows the labels of its result.
type query struct{ expr, shown string }

// asks are the expressions in ops by their place, and those of the recording rules by the names that they make.
func asks(t *testing.T) (exprs map[string]query, recorded map[string]string) {
	t.Helper()
	exprs, recorded = map[string]query{}, map[string]string{}
	for _, file := range ruleFiles() {
		var rules struct {
			Groups []struct {
				Rules []struct {
					Record, Alert, Expr string
					Annotations         struct{ Summary string }
				}
			}
		}
		if err := yaml.Unmarshal(ops(t, file), &rules); err != nil {
			t.Fatal(err)
		}
		for _, g := range rules.Groups {
			for _, r := range g.Rules {
				exprs[file+", "+r.Record+r.Alert] = query{r.Expr, r.Annotations.Summary}
				if r.Record != "" {
					recorded[r.Record] = r.Expr
				}
			}
		}
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct {
				RefID, Expr  string
				LegendFormat string `json:"legendFormat"`
			}
		}
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
	}
	if err := json.Unmarshal(ops(t, "dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			exprs["dashboard.json, "+p.Title+" "+target.RefID] = query{target.Expr, target.LegendFormat}
		}
	}
	for _, v := range board.Templating.List {
		if v.Type == "query" {
			metric, _, _ := strings.Cut(strings.TrimPrefix(v.Query, "label_values("), ",")
			exprs["dashboard.json, $"+v.Name] = query{expr: metric}
		}
	}
	return exprs, recorded
}

func ops(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", "ops", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// namesIn are the metrics of an expression: its words without labels, ranges, functions
// and keywords.
func namesIn(expr string) (names []string) {
	expr = regexp.MustCompile(`\{[^}]*\}|\[[^\]]*\]|\b(by|on|without|ignoring) *\([^)]*\)`).ReplaceAllString(expr, " ")
	for _, m := range regexp.MustCompile(`[a-zA-Z_:][\w:]*( *\()?`).FindAllString(expr, -1) {
		if !strings.HasSuffix(m, "(") && !slices.Contains([]string{"and", "or", "unless", "sum", "max", "min", "avg", "count", "bool"}, m) {
			names = append(names, m)
		}
	}
	return names
}

// labelsIn are the labels by which an expression chooses, groups or matches, and those of its result, if it has
// the labels there of its metrics.
func labelsIn(expr string, there []string) (uses, gives []string) {
	word := regexp.MustCompile(`\w+`)
	for _, m := range regexp.MustCompile(`(\w+) *(?:=~|!~|!=|=) *"`).FindAllStringSubmatch(expr, -1) {
		uses = append(uses, m[1])
	}
	for _, m := range regexp.MustCompile(`\b(by|on|without|ignoring) *\(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		uses = append(uses, word.FindAllString(m[2], -1)...)
		if m[1] == "by" {
			gives = append(gives, word.FindAllString(m[2], -1)...)
		}
	}
	if gives == nil {
		gives = there
	}
	return uses, gives
}

// A rule or a panel with a label that its metrics do not have shows nothing, or one line for all.
func TestRulesAndDashboardUseLabelsThatAreThere(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir(), "--config", file(t, "t.yaml", allMetrics))
	exprs, recorded := asks(t)
	families := s.metrics()
	var of func(expr string) []string
	of = func(expr string) (labels []string) {
		for _, name := range namesIn(expr) {
			if rule, is := recorded[name]; is {
				_, gives := labelsIn(rule, of(rule))
				labels = append(labels, gives...)
				continue
			}
			labels = append(labels, "job", "instance") // of Prometheus
			base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			if families[name] == nil && families[base] != nil {
				name, labels = base, append(labels, "le")
			}
			for _, l := range families[name].GetMetric() {
				for _, l := range l.GetLabel() {
					labels = append(labels, l.GetName())
				}
			}
		}
		return labels
	}
	for where, e := range exprs {
		there := of(e.expr)
		uses, gives := labelsIn(e.expr, there)
		for _, label := range uses {
			if !slices.Contains(there, label) {
				t.Errorf("%s uses the label %s, which its metrics do not have: %s", where, label, e.expr)
			}
		}
		for _, m := range regexp.MustCompile(`\{\{ *(?:\$labels\.)?(\w+) *\}\}`).FindAllStringSubmatch(e.shown, -1) {
			if !slices.Contains(gives, m[1]) {
				t.Errorf("%s shows the label %s, which its result does not have: %s", where, m[1], e.expr)
			}
		}
	}
}

// metrics are the metrics of a gateway as Prometheus reads them.
func (s *server) metrics() map[string]*dto.MetricFamily {
	s.t.Helper()
	status, body := s.do("GET", "/metrics", "")
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil || status != http.StatusOK {
		s.t.Fatalf("/metrics: %d, %v\n%s", status, err, body)
	}
	return families
}

// A new gateway already has all metrics that the rules and the dashboard ask for, so an
// operator sees the first event of each kind.
func TestI12_RulesAndDashboardAskForWhatIsThere(t *testing.T) {
	t.Parallel()
	s := startServer(t, t.TempDir(), "--config", file(t, "t.yaml", allMetrics))
	there := map[string]bool{}
	for name, family := range s.metrics() {
		there[name] = true
		if family.GetType() == dto.MetricType_HISTOGRAM {
			there[name+"_bucket"], there[name+"_sum"], there[name+"_count"] = true, true, true
		}
		if !strings.HasPrefix(name, "tributary_chat_") && !strings.HasPrefix(name, "tributary_agent_") {
			continue
		}
		agents := map[string]bool{}
		for _, m := range family.GetMetric() {
			agents[m.GetLabel()[0].GetValue()] = true
		}
		if !agents["demo"] || !agents["claude"] || !agents["echo"] {
			t.Errorf("%s has no series for each configured agent: %v", name, agents)
		}
	}
	exprs, recorded := asks(t)
	for name := range recorded {
		there[name] = true
	}
	asked := map[string]bool{}
	for where, e := range exprs {
		names := namesIn(e.expr)
		if len(names) == 0 {
			t.Errorf("%s asks for nothing: %s", where, e.expr)
		}
		for _, name := range names {
			asked[name] = true
			if !there[name] && name != "up" /* Prometheus' own */ && (runtime.GOOS == "linux" || !strings.HasPrefix(name, "process_")) {
				t.Errorf("%s asks for %s, which is not there", where, name)
			}
		}
	}
	// And each metric of the RFC has its name there.
	for _, name := range []string{
		"adapter_request_count", "adapter_request_error_rate", "adapter_latency_ttfb_p99", "adapter_latency_turn_duration_p99",
		"adapter_ws_open_failures", "adapter_stream_aborts_client", "adapter_stream_aborts_server", "adapter_translation_unknown_events",
	} {
		if recorded[name] == "" {
			t.Errorf("no recording rule makes %s", name)
		}
	}
	// And each metric of the gateway is asked for, but for some that no alert and no panel needs.
	unasked := []string{
		"tributary_chat_revocations_total", "tributary_agent_unknown_tools_total", "tributary_http_requests_total", "tributary_sessions", "tributary_export_spans_total",
	}
	for name, family := range s.metrics() {
		if family.GetType() == dto.MetricType_HISTOGRAM {
			name += "_bucket"
		}
		if strings.HasPrefix(name, "tributary_") && !asked[name] && !slices.Contains(unasked, name) {
			t.Errorf("no rule and no panel asks for %s", name)
		}
	}
}

// Names, units and types of the metrics follow the conventions of Prometheus.
func TestMetricsFollowTheConventionsOfPrometheus(t *testing.T) {
	t.Parallel()
	_, body := startServer(t, t.TempDir(), "--config", file(t, "t.yaml", allMetrics)).do("GET", "/metrics", "")
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The pages name each metric that is there, and none that is not.
func TestMetricsAreOnTheirPages(t *testing.T) {
	t.Parallel()
	var text string
	for _, page := range []string{"reference/metrics.md", "deploy/operations.md"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	s := startServer(t, t.TempDir(), "--config", file(t, "t.yaml", allMetrics))
	there := s.metrics()
	_, recorded := asks(t)
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`((?:adapter_|tributary_|job_agent:)[a-z0-9_:]+)`").FindAllStringSubmatch(text, -1) {
		named[m[1]] = true
		if there[m[1]] == nil && recorded[m[1]] == "" {
			t.Errorf("the pages name %s, which is not there", m[1])
		}
	}
	for name := range there {
		if !named[name] && strings.HasPrefix(name, "tributary_") {
			t.Errorf("no page names %s", name)
		}
	}
	for name := range recorded {
		if !named[name] {
			t.Errorf("no page names the recording rule %s", name)
		}
	}
	for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(ops(t, "rules.yaml")), -1) {
		if !strings.Contains(text, "\n### "+alert[1]+"\n") {
			t.Errorf("docs/deploy/operations.md has no heading for the alert %s", alert[1])
		}
	}
}

// The log holds neither the text of a conversation nor the token, even at the level debug.
//
//evidence:for ops-log
func TestTheLogOfTheGatewayHoldsNoPromptAndNoToken(t *testing.T) {
	t.Parallel()
	const marked = "PROMPT-77ab"
	s := startServer(t, t.TempDir(), "--log-level", "debug")
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/api/chat", chat("s1", marked)},
		{"POST", "/api/chat", chat("s2", "error "+marked)},
		{"POST", "/api/chat?agent=" + marked, chat("s3", marked)},
		{"POST", "/api/chat?token=" + s.token, `{"id":"s4","messages":"` + marked + `"}`},
		{"POST", "/api/chat/s1/stop", `{"turn":"` + marked + `"}`},
		{"GET", "/api/sessions/s1/messages?token=" + s.token, ""},
	} {
		s.do(r.method, r.path, r.body)
	}
	s.stop()
	out := s.errors.String()
	if strings.Contains(out, marked) || strings.Contains(out, s.token) {
		t.Errorf("the log holds what it must not:\n%s", out)
	}
	if !strings.Contains(out, `"msg":"turn ended"`) || !strings.Contains(out, `"msg":"turn began"`) {
		t.Errorf("the log is not at its most talkative:\n%s", out)
	}
}
