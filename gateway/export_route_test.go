package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestAConversationIsExported(t *testing.T) {
	s := newStand(t, nil)
	const turns = 130 // more than a page
	for i := range turns {
		s.do("POST", "/api/chat", submit("long", fmt.Sprint("u", i), fmt.Sprintf("message number %03d", i)))
	}
	s.do("PATCH", "/api/sessions/long", `{"title":"Über: a/b"}`)
	status, header, body := s.do("GET", "/api/sessions/long/export", "")
	if status != http.StatusOK || header.Get("Content-Type") != "text/markdown; charset=utf-8" || !strings.HasPrefix(header.Get("Content-Disposition"), "attachment; filename") || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %v", status, header)
	}
	at := 0
	for i := range turns {
		next := strings.Index(body[at:], fmt.Sprintf("message number %03d", i))
		if next < 0 {
			t.Fatalf("message %d is missing, or not in its place", i)
		}
		at += next
	}
	if !strings.HasPrefix(body, "# Über: a/b\n") || strings.Count(body, "\n## ada, ") != turns || strings.Count(body, "\n## demo, ") != turns {
		t.Errorf("the headings: %.300s", body)
	}
	_, header, body = s.do("GET", "/api/sessions/long/export?format=json", "")
	_, _, want := s.do("GET", "/api/sessions/long/messages?limit=1000", "")
	if body != want || !json.Valid([]byte(body)) || header.Get("Content-Type") != "application/json" {
		t.Errorf("the messages are others than those of the history: %.300s", body)
	}
	s.do("POST", "/api/sessions", `{"id":"empty"}`)
	if _, header, body := s.do("GET", "/api/sessions/empty/export?format=json", ""); body != "[]\n" || header.Get("Content-Disposition") != "attachment; filename=empty.json" {
		t.Errorf("of an empty session: %q %v", body, header)
	}
	for title, want := range map[string]string{
		"...":               "attachment; filename=empty.md",
		". .hidden":         "attachment; filename=hidden.md",
		"../\"x\"; a=\r\nb": `attachment; filename="--x-- a- b.md"`,
	} {
		s.do("PATCH", "/api/sessions/empty", fmt.Sprintf(`{"title":%q}`, title))
		if _, header, _ := s.do("GET", "/api/sessions/empty/export", ""); header.Get("Content-Disposition") != want {
			t.Errorf("the file of %q: %s", title, header.Get("Content-Disposition"))
		}
	}
	s.do("PATCH", "/api/sessions/empty", `{"title":"a \u202etxt.exe\u200b \u001b[2J"}`)
	if _, header, body := s.do("GET", "/api/sessions/empty/export", ""); !strings.HasPrefix(body, `# a \<U+202E\>txt.exe\<U+200B\>`) || strings.ContainsAny(header.Get("Content-Disposition"), "\u202e\u200b\x1b") {
		t.Errorf("hidden characters of a title: %q %v", body, header)
	}
	for _, route := range []string{"/api/sessions", "/api/sessions/long", "/api/sessions/long/messages", "/api/sessions/long/trace", "/api/requests", "/api/sessions/long/export?format=json", "/api/sessions/none"} {
		if _, header, _ := s.do("GET", route, ""); header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", route, header)
		}
	}
	if status, _, body := s.do("GET", "/api/sessions/long/export?format=pdf", ""); status != http.StatusBadRequest {
		t.Errorf("another format: %d %s", status, body)
	}
}
