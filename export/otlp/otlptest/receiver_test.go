package otlptest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/export/otlp/otlptest"
)

// The receiver must not take what Langfuse refuses: tests that send to it would mean nothing.
func TestRules(t *testing.T) {
	t.Parallel()
	const trace, id = "0102030405060708090a0b0c0d0e0f10", "0102030405060708"
	span := func(trace, id, name string, start, end int, attrs string) string {
		return fmt.Sprintf(`{"traceId":%q,"spanId":%q,"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}`, trace, id, name, start, end, attrs)
	}
	const session = `{"key":"session.id","value":{"stringValue":"s"}}`
	good := span(trace, id, "chat", 1, 2, session)
	of := func(spans string) string { return `{"resourceSpans":[{"scopeSpans":[{"spans":` + spans + `}]}]}` }
	for _, c := range []struct {
		name, body, kind, version string
		status, rows              int
		fault                     string
	}{
		{name: "a good one", body: of("[" + good + "]"), status: 200, rows: 1},
		{name: "nothing", body: `{}`, status: 200},
		{name: "twice the same", body: of("[" + good + "," + good + "]"), status: 200, rows: 1},
		{name: "another start", body: of("[" + good + "," + span(trace, id, "chat", 2, 2, session) + "]"), status: 200, rows: 2, fault: "another start"},
		{name: "no id of a trace", body: of("[" + good + "," + span("", id, "chat", 1, 2, session) + "]"), status: 400},
		{name: "no id", body: of("[" + good + "," + span(trace, "", "chat", 1, 2, session) + "]"), status: 400},
		{name: "a zero id", body: of("[" + span(trace, "0000000000000000", "chat", 1, 2, session) + "]"), status: 400},
		{name: "spans that are no list", body: of(good), status: 400},
		{name: "attributes that are no list", body: of(`[{"traceId":"` + trace + `","spanId":"` + id + `","startTimeUnixNano":"1","endTimeUnixNano":"1","attributes":{}}]`), status: 400},
		{name: "a content type", body: of("[" + good + "]"), kind: "text/plain", status: 400},
		{name: "a version", body: of("[" + good + "]"), version: "4", status: 200, rows: 1},
		{name: "a version to come", body: of("[" + good + "]"), version: "5", status: 400},
		{name: "a version that is none", body: of("[" + good + "]"), version: "new", status: 400},
		{name: "no session", body: of("[" + span(trace, id, "chat", 1, 2, "") + "]"), status: 200, rows: 1, fault: "no session"},
		{name: "an end before its beginning", body: of("[" + span(trace, id, "chat", 2, 1, session) + "]"), status: 200, rows: 1, fault: "ends before"},
		{name: "a permission that is a tool", body: of("[" + span(trace, id, "permission", 1, 2, session+`,{"key":"gen_ai.tool.name","value":{"stringValue":"Read"}}`) + "]"), status: 200, rows: 1, fault: "used tool"},
		{name: "too much", body: of("[" + strings.Repeat(good+",", 100) + good + "]"), status: 413},
	} {
		r := otlptest.Receiver{Most: 4000}
		req := httptest.NewRequest(http.MethodPost, "/v1/traces", strings.NewReader(c.body))
		if c.kind == "" {
			c.kind = "application/json"
		}
		req.Header.Set("Content-Type", c.kind)
		if c.version != "" {
			req.Header.Set("X-Langfuse-Ingestion-Version", c.version)
		}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		faults := strings.Join(r.Faults(), "\n")
		if w.Code != c.status || len(r.Spans()) != c.rows || !strings.Contains(faults, c.fault) || (c.fault == "") != (faults == "") {
			t.Errorf("%s: %d %s, %d rows, %q", c.name, w.Code, w.Body, len(r.Spans()), faults)
		}
	}
}
