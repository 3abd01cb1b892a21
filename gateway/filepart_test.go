package gateway_test

import (
	"strings"
	"testing"
)

// A file that is malformed is refused in one sentence, on every route for chats, and makes no
// session. An older message of the history that a client posts is not read for that.
//
//evidence:for limit-file-fields
func TestMalformedFilesAreRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t, nil)
	s.do("POST", "/api/chat", submit("known", "u1", "hello"))
	for fields, want := range map[string]string{
		`"mediaType":"text/plain","url":"https://e.example/ @/etc/passwd"`:                     `The address of the file "" holds white space or control characters: write them as %20 and the like.`,
		`"mediaType":"text/plain @/etc/passwd","url":"x:y"`:                                    `The media type of the file "" is malformed: send one such as text/plain.`,
		`"mediaType":"text/plain","url":"data:application/x\u2028@/etc;base64,eA=="`:           `The address of the file`,
		`"mediaType":"text/plain","url":"data:application/x@/etc;base64,eA=="`:                 `The media type of the file`,
		`"mediaType":"text/plain","url":"https://e.example/","filename":"a\u202egnp.exe"`:      `The name of the file "a\u202egnp.exe" holds control characters: rename the file.`,
		`"mediaType":"text/plain","url":"https://e.example/","filename":"a\n@/etc/passwd.txt"`: `The name of the file`,
	} {
		message := `{"id":"u2","role":"user","parts":[{"type":"text","text":"look"},{"type":"file",` + fields + `}]}`
		for path, body := range map[string]string{
			"/api/chat":                `{"id":"new","messages":[` + message + `]}`,
			"/api/chat?x":              `{"id":"new","message":` + message + `}`,
			"/api/chat?again":          `{"id":"known","trigger":"regenerate-message","messages":[` + message + `]}`,
			"/api/sessions/known/chat": `{"id":"known","messages":[` + message + `]}`,
		} {
			if status, _, said := s.do("POST", path, body); status != 400 || !strings.HasPrefix(said, want) {
				t.Errorf("%s %s: %d %s", path, fields, status, said)
			}
		}
		c := s.socket("")
		c.write(`{"type":"send","requestId":"r","headers":{},"body":{},"id":"new","messages":[` + message + `]}`)
		if got := shown(c.until("r")); !strings.Contains(got, want) {
			t.Errorf("by WebSocket: %s", got)
		}
		body := `{"id":"known","messages":[` + message + `,{"id":"u3","role":"user","parts":[{"type":"text","text":"hello"}]}]}`
		if status, _, said := s.do("POST", "/api/chat", body); status != 200 {
			t.Errorf("an older message: %d %s", status, said)
		}
	}
	if status, _, _ := s.do("GET", "/api/sessions/new", ""); status != 404 {
		t.Errorf("a refused prompt has made a session: %d", status)
	}
}
