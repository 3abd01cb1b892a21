package gateway_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// signIn opens the printed URL as a browser does: the cookie, and the secret of the page.
func (s stand) signIn(user string) (cookie, page string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/?token="+tokenOf(user), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	to, err := url.Parse(res.Header.Get("Location"))
	if err != nil || len(res.Cookies()) != 1 {
		s.t.Fatalf("%v %v", res.Header, err)
	}
	_, page, _ = strings.Cut(to.Fragment, "=")
	return res.Cookies()[0].Name + "=" + res.Cookies()[0].Value, page
}

// The opening request has the credentials: those of a program, of a page elsewhere, or of the
// gateway's own page. A page of another origin opens no socket with the cookie of a browser.
func TestTheOpeningRequestOfASocketIsChecked(t *testing.T) {
	s := accessStand(t, false)
	cookie, page := s.signIn("carl")
	const chat = "ai-sdk-chat"
	for _, c := range []struct {
		name         string
		subprotocols []string
		header       []string
		status       int
	}{
		{name: "a header", header: []string{"Authorization", "Bearer " + tokenOf("carl")}},
		{name: "a token among the subprotocols", subprotocols: []string{chat, "bearer." + tokenOf("carl")}},
		{name: "the cookie of the own page with its secret", subprotocols: []string{chat, "page." + page}, header: []string{"Cookie", cookie, "Origin", s.url}},
		{name: "nothing", status: 401},
		{name: "a wrong token", subprotocols: []string{chat, "bearer.guess"}, status: 401},
		{name: "the cookie without the secret", header: []string{"Cookie", cookie, "Origin", s.url}, status: 401},
		{name: "the cookie with a wrong secret", subprotocols: []string{chat, "page.guess"}, header: []string{"Cookie", cookie, "Origin", s.url}, status: 401},
		{name: "the cookie from a foreign page", subprotocols: []string{chat, "page." + page}, header: []string{"Cookie", cookie, "Origin", "https://evil.example"}, status: 403},
		{name: "a token from a foreign page", subprotocols: []string{chat, "bearer." + tokenOf("carl")}, header: []string{"Origin", "https://evil.example"}, status: 403},
	} {
		h := http.Header{}
		for i := 0; i+1 < len(c.header); i += 2 {
			h.Set(c.header[i], c.header[i+1])
		}
		conn, res, err := websocket.Dial(t.Context(), s.url+"/api/chat", &websocket.DialOptions{HTTPHeader: h, Subprotocols: c.subprotocols}) //nolint:bodyclose // its documentation: never needed
		switch {
		case c.status != 0:
			if err == nil {
				_ = conn.CloseNow()
			}
			if res.StatusCode != c.status {
				t.Errorf("%s: %d, not %d", c.name, res.StatusCode, c.status)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		default:
			if got := conn.Subprotocol(); c.subprotocols != nil && got != chat {
				t.Errorf("%s: the subprotocol is %q", c.name, got)
			}
			one := socket{t, conn}
			one.send("r", "new", "u1", "hello")
			if got := shown(one.until("r")); !strings.HasSuffix(got, "end ,") {
				t.Errorf("%s: %s", c.name, got)
			}
			_ = conn.CloseNow()
		}
	}
}

// A sign-in that is over opens no further request, although its socket ends only seconds later.
func TestAFrameAfterTheSignOutIsRefused(t *testing.T) {
	s := accessStand(t, false)
	cookie, page := s.signIn("carl")
	header := []string{"Cookie", cookie, "X-Tributary-Page", page, "Origin", s.url}
	c := s.socket("", header...)
	if status, _, body := s.do("POST", "/auth/sign-out", "", header...); status != http.StatusNoContent {
		t.Fatal(status, body)
	}
	c.write(`{"requestId":"r","type":"get","path":"/api/events"}`)
	if f, err := c.next(); err != nil || f.Status != http.StatusUnauthorized {
		t.Errorf("%+v %v", f, err)
	}
	c.send("s", "c1", "u1", "hello")
	if got := shown(c.until("s")); !strings.Contains(got, "sign in again") {
		t.Errorf("a prompt: %s", got)
	}
}

// A header in a frame gives no access: the sender of a frame is that of the opening request.
func TestAFramesHeadersGiveNoAccess(t *testing.T) {
	s := accessStand(t, false)
	c := s.socket("", "Authorization", "Bearer "+tokenOf("vera"))
	c.write(`{"type":"send","requestId":"r","headers":{"authorization":"Bearer ` + tokenOf("root") + `"},"body":{},` + submit("c1", "u1", "hello")[1:])
	if got := c.until("r"); !strings.Contains(got[0].ErrorText, "this needs collaborator") {
		t.Errorf("a viewer's prompt: %s", shown(got))
	}
}
