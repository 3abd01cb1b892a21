package gateway_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func TestAConversationIsExportedForPrograms(t *testing.T) {
	s := newStand(t, nil)
	s.do("POST", "/api/chat", submit("heron", "u1", "tool"))
	s.do("POST", "/api/chat", submit("heron", "u2", "a secret sentence of five"))
	export := func(query string) (int, http.Header, string) {
		return s.do("GET", "/api/sessions/heron/export?"+query, "")
	}
	status, header, body := export("format=atif")
	var f struct {
		Version string `json:"schema_version"`
		Session string `json:"session_id"`
		Agent   struct{ Name, Version string }
		Steps   []struct {
			Source string
			Calls  []any `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal([]byte(body), &f); err != nil || status != http.StatusOK || header.Get("Content-Type") != "application/json" || header.Get("Content-Disposition") != "attachment; filename=tool.atif.json" {
		t.Fatalf("%d %v %v %s", status, header, err, body)
	}
	calls := 0
	for _, step := range f.Steps {
		calls += len(step.Calls)
	}
	if f.Version != "ATIF-v1.7" || f.Session != "heron" || f.Agent.Name != "demo" || len(f.Steps) < 4 || calls != 1 {
		t.Errorf("%+v", f)
	}
	if status, _, body := export("format=atif&content=none&version=1.8"); status != http.StatusOK || strings.Contains(body, "secret") || !strings.Contains(body, "ATIF-v1.8") {
		t.Errorf("%d %s", status, body)
	}
	for _, query := range []string{"format=atif&content=none", "format=otlp&content=output", "format=otlp-protobuf&content=none"} { // the title is of the prompt
		if status, header, _ := export(query); status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment; filename=heron.") {
			t.Errorf("%s: %d %v", query, status, header)
		}
	}
	status, header, body = export("format=otlp")
	if lines := strings.Split(strings.TrimSpace(body), "\n"); status != http.StatusOK || len(lines) != 2 || !json.Valid([]byte(lines[1])) || header.Get("Content-Type") != "application/x-ndjson" || !strings.Contains(body, "secret") {
		t.Errorf("%d %v %s", status, header, body)
	}
	if status, header, body := export("format=otlp-protobuf"); status != http.StatusOK || header.Get("Content-Type") != "application/x-protobuf" || !strings.Contains(body, "invoke_agent demo") {
		t.Errorf("%d %v %s", status, header, body)
	}
	_, _, history := s.do("GET", "/api/sessions/heron/messages", "")
	first := regexp.MustCompile(`"id":"(msg_[^"]+)"`).FindStringSubmatch(history)[1]
	if status, _, body := export("format=otlp&message=" + first); status != http.StatusOK || strings.Count(body, "\n") != 1 || strings.Contains(body, "secret") {
		t.Errorf("one turn: %d %s", status, body)
	}
	if status, _, body := export("format=atif&message=nobody"); status != http.StatusNotFound || !strings.Contains(body, "unknown_message") {
		t.Errorf("no turn: %d %s", status, body)
	}
	for query, want := range map[string]string{
		"format=otlp&contents=none": "`contents` is no parameter", "format=otlp&content=": "`content` is empty", "format=otlp&content=all&content=none": "`content` stands there 2 times",
		"format=markdown&content=none": "`content` does nothing for the format markdown", "content=none": "does nothing", "format=json&turn=x": "`turn` does nothing", "format=json&denied=false": "`denied` does",
		"format=otlp&version=1.8": "`version` does nothing", "format=": "`format` is empty", "format=otlp&format=atif": "stands there 2 times", "format=otlp&content=none;": "cannot be read", "format=otlp&content=%zz": "cannot be read",
		"format=atif&content=words": "classes", "format=atif&version=3": "1.7 or 1.8", "format=otlp&denied=no": "must be true or false", "format=pdf": "otlp",
	} {
		want = strings.ReplaceAll(want, "classes", "use all, none, or some of")
		if status, _, body := export(query); status != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	s.do("POST", "/api/sessions", `{"id":"empty"}`)
	for _, format := range []string{"atif", "otlp"} {
		if status, header, body := s.do("GET", "/api/sessions/empty/export?format="+format, ""); status != http.StatusConflict || !strings.Contains(body, "nothing_to_export") || header.Get("Content-Disposition") != "" {
			t.Errorf("%s of an empty session: %d %v %s", format, status, header, body)
		}
		if status, _, body := s.do("GET", "/api/sessions/heron/export?turn=none&format="+format, ""); status != http.StatusConflict || !strings.Contains(body, "the session has no turn \\\"none\\\" that has ended") {
			t.Errorf("%s of no turn: %d %s", format, status, body)
		}
	}
}
