package gateway_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

var updateTable = flag.Bool("update-access", false, "write docs/reference/access.md anew")

const accessPage = "../docs/reference/access.md"

// column is a kind of caller. Ada, a collaborator, has made the session that they ask for.
type column struct {
	title   string
	private bool
	user    string // "": without a token
}

func accessColumns() []column {
	return []column{
		{"no token", false, ""},
		{"viewer", false, "vera"},
		{"collaborator", false, "carl"},
		{"admin", false, "root"},
		{"stranger", true, "carl"},
		{"in a group of approvers", true, "gus"},
		{"member: viewer", true, "vic"},
		{"member: collaborator", true, "cleo"},
		{"owner", true, "ada"},
		{"admin", true, "root"},
	}
}

func tokenOf(user string) string { return user + "-" + strings.Repeat("0", 24) }

// accessStand is a gateway behind a real guard.
func accessStand(t *testing.T, private bool) stand {
	t.Helper()
	roles := map[string]access.Role{
		"vera": access.Viewer, "carl": access.Collaborator, "root": access.Admin,
		"vic": access.Collaborator, "gus": access.Collaborator, "cleo": access.Collaborator, "ada": access.Collaborator,
	}
	c := access.Config{Listen: "127.0.0.1:0", Public: gateway.Public, Refuse: gateway.Refuse, Groups: map[string][]string{"approvers": {"gus"}}}
	for name, role := range roles {
		c.Tokens = append(c.Tokens, access.Token{Name: name, Token: tokenOf(name), Role: role})
	}
	guard, err := access.New(c)
	if err != nil {
		t.Fatal(err)
	}
	many := func(o *session.Options) { o.MaxAgents, o.AgentShare = 10_000, 10_000 } // all sessions wait at once
	return newStandOn(t, memlog.New(), many, func(o *gateway.Options) {
		o.Private, o.Guard, o.Permits = private, guard.Wrap, []access.Who{{Role: access.Admin}, {Group: "approvers"}}
		o.Page = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") })
	})
}

var approvalID = regexp.MustCompile(`"approvalId":"([^"]+)"`)

// session makes a session of Ada's that waits for an approval, with its members.
func (s stand) session(id string, private bool) (request string) {
	s.t.Helper()
	ada := []string{"Authorization", "Bearer " + tokenOf("ada"), "Content-Type", "application/json"}
	_, _, stream := s.do("POST", "/api/chat", submit(id, "u-"+id, "approve"), ada...)
	found := approvalID.FindStringSubmatch(stream)
	if found == nil {
		s.t.Fatalf("the session %s waits for nothing: %s", id, stream)
	}
	if private {
		for user, role := range map[string]string{"vic": "viewer", "cleo": "collaborator"} {
			if status, _, body := s.do("PUT", "/api/sessions/"+id+"/members/"+user, `{"role":"`+role+`"}`, ada...); status != 200 {
				s.t.Fatalf("invite %s: %d %s", user, status, body)
			}
		}
	}
	return found[1]
}

// bodies are what the routes with a body are sent.
func accessBody(pattern, id string) string {
	switch pattern {
	case "POST /api/chat", "POST /api/sessions/{id}/chat":
		return submit(id, "next-"+id, "hello")
	case "POST /api/sessions":
		return `{}`
	case "PATCH /api/sessions/{id}":
		return `{"title":"new"}`
	case "PUT /api/sessions/{id}/members/{principal}":
		return `{"role":"viewer"}`
	case "POST /api/sessions/{id}/permissions/{request}":
		return `{"approved":false}`
	case "POST /api/sessions/{id}/questions/{request}":
		return `{"value":"x"}`
	}
	if strings.HasPrefix(pattern, "GET ") || strings.HasPrefix(pattern, "DELETE ") {
		return ""
	}
	return `{}`
}

// mayUse asks a route as a caller and reads the answer off as yes, no, or none: the
// gateway answers as if there were no such session.
func (s stand) mayUse(c column, pattern, id, request string) string {
	s.t.Helper()
	method, path, _ := strings.Cut(pattern, " ")
	path = strings.NewReplacer("{id}", id, "{request}", request, "{principal}", "zoe", "{chat}", "x", "{grant}", "x", "{turn}", "turn_none", "{agent}", "demo", "{invocation}", "x").Replace(path)
	if path == "/api/chat" && method == http.MethodGet {
		path = "/api/chat?client=6/" + id + "/stream"
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(accessBody(pattern, id)))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if c.user != "" {
		req.Header.Set("Authorization", "Bearer "+tokenOf(c.user))
	}
	if strings.HasSuffix(path, "/ws") {
		req.URL.RawQuery = "role=client"
		for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
			req.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var body string
	if res.StatusCode >= 400 || strings.HasSuffix(path, "/stop") {
		text, err := io.ReadAll(res.Body)
		if err != nil {
			s.t.Fatal(err)
		}
		body = string(text)
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized, res.StatusCode == http.StatusForbidden:
		return "no"
	case strings.Contains(body, "There is no such session."), strings.HasSuffix(path, "/stop") && strings.Contains(body, `"stopped":false`),
		strings.HasSuffix(path, "/stream") && res.StatusCode == http.StatusNoContent:
		return "none"
	case res.StatusCode >= http.StatusInternalServerError && res.StatusCode != http.StatusNotImplemented:
		s.t.Errorf("%s as %s: %s %s", pattern, c.title, res.Status, body)
	}
	return "yes"
}

// accessTable asks every route as every kind of caller. Routes with the same answers share a row.
func accessTable(t *testing.T) string {
	t.Helper()
	stands := map[bool]stand{false: accessStand(t, false), true: accessStand(t, true)}
	patterns := append(gateway.Patterns(), gateway.OpenPatterns()...)
	for _, r := range access.Routes() {
		patterns = append(patterns, r.Pattern)
	}
	var b strings.Builder
	line := func(cells ...string) { fmt.Fprintln(&b, "| "+strings.Join(cells, " | ")+" |") }
	heads, rule := []string{"route"}, []string{"---"}
	for _, c := range accessColumns() {
		switch {
		case c.user == "":
			heads = append(heads, c.title)
		case c.private:
			heads = append(heads, "private: "+c.title)
		default:
			heads = append(heads, "shared: "+c.title)
		}
		rule = append(rule, "---")
	}
	line(heads...)
	line(rule...)
	var answers []string            // of each row, in the order of the first route
	routes := map[string][]string{} // those with the same answers
	for i, pattern := range patterns {
		var cells []string
		for j, c := range accessColumns() {
			s, id, request := stands[c.private], fmt.Sprintf("s%d-%d", i, j), "x"
			if strings.Contains(pattern, "/api/chat") || strings.Contains(pattern, "{id}") && !strings.HasPrefix(pattern, "DELETE /auth/") {
				request = s.session(id, c.private)
			}
			cells = append(cells, s.mayUse(c, pattern, id, request))
		}
		row := strings.Join(cells, " | ")
		if routes[row] == nil {
			answers = append(answers, row)
		}
		routes[row] = append(routes[row], "`"+pattern+"`")
	}
	for _, row := range answers {
		line(strings.Join(routes[row], "<br>"), row)
	}
	return b.String()
}

// The table of the page is what the gateway does: every route of the mux as every caller.
func TestTheAccessPageSaysWhoMayDoWhat(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks every route with every role, one after another")
	}
	page, err := os.ReadFile(accessPage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- made by go test ./gateway -run TestTheAccessPage -update-access -->\n", "<!-- end -->"
	before, rest, _ := strings.Cut(string(page), begin)
	table, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatal("the page has no place for the table")
	}
	got := accessTable(t)
	if got == table {
		return
	}
	if !*updateTable {
		t.Fatalf("the page is not what the gateway does: run the test with -update-access. It does:\n%s", got)
	}
	if err := os.WriteFile(accessPage, []byte(before+begin+got+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
