package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway"
)

const specFile = "../docs/reference/openapi.yaml"

// spec is openapi.yaml.
func spec(t *testing.T) *openapi3.T {
	t.Helper()
	data, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// operations are those of the spec by method and path, as the gateway's patterns are.
func operations(doc *openapi3.T) map[string]*routers.Route {
	all := map[string]*routers.Route{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			all[method+" "+path] = &routers.Route{Spec: doc, Path: path, PathItem: item, Method: method, Operation: op}
		}
	}
	return all
}

func TestTheSpecHasEveryRoute(t *testing.T) {
	t.Parallel()
	routes := append(gateway.Patterns(), gateway.OpenPatterns()...)
	for _, r := range access.Routes() {
		routes = append(routes, r.Pattern)
	}
	described := slices.Sorted(maps.Keys(operations(spec(t))))
	slices.Sort(routes)
	for _, r := range routes {
		if !slices.Contains(described, r) {
			t.Errorf("openapi.yaml lacks %s", r)
		}
	}
	for _, d := range described {
		if !slices.Contains(routes, d) {
			t.Errorf("openapi.yaml has %s, the gateway has not", d)
		}
	}
}

// The page of HTTP has the routes of the spec, and the role beside a route in a heading or at the beginning of an item is
// the smallest that access.md lets through.
func TestThePageOfHTTPHasTheRoutesOfTheSpecAndTheirRoles(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/reference/http.md")
	if err != nil {
		t.Fatal(err)
	}
	described, roles := operations(spec(t)), rolesOfTheAccessPage(t)
	route, shown := regexp.MustCompile("`([A-Z]+ /[^`? ]*)[^`]*`"), map[string]bool{}
	said := regexp.MustCompile(route.String() + "|(?: — |, )(public|viewer|collaborator|owner|approver|admin)\\b")
	for line := range strings.Lines(string(data)) {
		for _, m := range route.FindAllStringSubmatch(line, -1) {
			shown[m[1]] = true
		}
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "- `") {
			continue
		}
		var before []string // the next role is for these routes
		for _, m := range said.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				before = append(before, m[1])
				continue
			}
			for _, r := range before {
				if is := strings.Replace(m[2], "approver", "admin", 1); is != roles[r] { // by default an admin approves
					t.Errorf("http.md has the role %s for %s, access.md %s", m[2], r, roles[r])
				}
			}
			before = nil
		}
	}
	for r := range described {
		if !shown[r] {
			t.Errorf("http.md lacks %s", r)
		}
	}
	for r := range shown {
		if described[r] == nil {
			t.Errorf("http.md has %s, openapi.yaml has not", r)
		}
	}
}

// rolesOfTheAccessPage are the smallest roles that access.md lets through, by route.
func rolesOfTheAccessPage(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(accessPage)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "| --- |")
	all, titles := map[string]string{}, []string{"no token", "viewer", "collaborator", "owner", "admin"}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != len(accessColumns())+1 {
			continue
		}
		smallest := slices.IndexFunc(titles, func(title string) bool {
			return cells[1+slices.IndexFunc(accessColumns(), func(c column) bool { return c.title == title })] == "yes"
		})
		for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cells[0], -1) {
			all[m[1]] = strings.Replace(titles[smallest], "no token", "public", 1)
		}
	}
	return all
}

// described is a gateway whose requests and answers are checked against the spec.
type described struct {
	stand
	routes map[string]*routers.Route
	driven map[string]bool
}

// a call is a request by its pattern.
type call struct {
	pattern string
	path    map[string]string // the values of the pattern's names
	query   string
	body    string
	user    string // "": the admin
	status  int
}

var pathName = regexp.MustCompile(`\{(\w+)\}`)

// do sends a request, and checks that the spec allows it and its answer.
func (d *described) do(t *testing.T, c call) string {
	t.Helper()
	route := d.routes[c.pattern]
	if route == nil {
		t.Fatalf("openapi.yaml lacks %s", c.pattern)
	}
	method, path, _ := strings.Cut(c.pattern, " ")
	path = pathName.ReplaceAllStringFunc(path, func(name string) string { return c.path[strings.Trim(name, "{}")] })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, d.url+path+c.query, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	user := c.user
	if user == "" {
		user = "root"
	}
	req.Header.Set("Authorization", "Bearer "+tokenOf(user))
	if c.status == http.StatusSwitchingProtocols {
		for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
			req.Header.Set(name, value)
		}
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: c.path, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true, MultiError: true},
	}
	if c.status < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(ctx, in); err != nil {
			t.Errorf("%s: the spec refuses the request: %v", c.pattern, err)
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req.Body = io.NopCloser(strings.NewReader(c.body)) // the check has read it
	res, err := client.Do(req)
	if err != nil {
		t.Fatalf("%s: no answer: %v", c.pattern, err)
	}
	defer res.Body.Close()
	var body []byte
	if res.StatusCode != http.StatusSwitchingProtocols && !strings.HasSuffix(c.pattern, "/events") { // events go on until the client leaves
		if body, err = io.ReadAll(res.Body); err != nil {
			t.Fatalf("%s: %v", c.pattern, err)
		}
	}
	if res.StatusCode != c.status {
		t.Errorf("%s: the answer is %d, not %d: %s", c.pattern, res.StatusCode, c.status, body)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: res.StatusCode, Header: res.Header, Options: in.Options}
	out.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(ctx, out); err != nil {
		t.Errorf("%s: the spec does not allow the answer %d: %v\n%s", c.pattern, res.StatusCode, err, body)
	}
	d.driven[c.pattern] = true
	return string(body)
}

func TestTheGatewayDoesWhatTheSpecSays(t *testing.T) {
	for _, kind := range []string{"text/event-stream", "text/html", "text/markdown", "application/x-ndjson"} { // which the checker takes as they are
		openapi3filter.RegisterBodyDecoder(kind, openapi3filter.FileBodyDecoder)
		t.Cleanup(func() { openapi3filter.UnregisterBodyDecoder(kind) })
	}
	d := &described{accessStand(t, false), operations(spec(t)), map[string]bool{}}
	in := func(id string) map[string]string { return map[string]string{"id": id} }
	waiting := func(id, prompt, kind string) string { // a session that waits for an answer, and its request
		stream := d.do(t, call{pattern: "POST /api/chat", body: submit(id, "u-"+id, prompt), status: 200})
		found := regexp.MustCompile(kind + `":"([^"]+)"`).FindStringSubmatch(stream)
		if found == nil {
			t.Fatalf("%s waits for nothing: %s", id, stream)
		}
		return found[1]
	}

	d.do(t, call{pattern: "POST /api/sessions", body: `{"id":"notes","agent":"demo","title":"Notes","mode":"plan","model":"demo"}`, status: 201})
	d.do(t, call{pattern: "POST /api/sessions", body: `{"id":"notes"}`, status: 409})
	d.do(t, call{pattern: "POST /api/sessions", body: `{"id":"empty"}`, status: 201})
	d.do(t, call{pattern: "POST /api/chat", body: submit("notes", "u1", "tool"), status: 200})
	d.do(t, call{pattern: "POST /api/chat", body: `{"id":"notes","messages":[]}`, status: 400})
	d.do(t, call{pattern: "GET /api/chat", query: "?client=6/empty/stream", status: 204})
	d.do(t, call{pattern: "GET /api/chat", query: "?client=7", status: 101})
	d.do(t, call{pattern: "GET /api/chat/{id}/stream", path: in("empty"), status: 204})
	d.do(t, call{pattern: "POST /api/chat/{id}/stop", path: in("notes"), status: 200})
	d.do(t, call{pattern: "POST /api/sessions/{id}/stop", path: in("notes"), body: `{"turn":"turn_x"}`, status: 200})
	d.do(t, call{pattern: "POST /api/chat/{id}/steer", path: in("notes"), body: `{"text":"in French"}`, status: 400})
	d.do(t, call{pattern: "POST /api/sessions/{id}/chat", path: in("notes"), body: submit("notes", "u2", "hello"), status: 200})
	d.do(t, call{pattern: "POST /api/sessions/{id}/chat", path: in("nowhere"), body: submit("nowhere", "u2", "hello"), status: 404})
	d.do(t, call{pattern: "GET /api/sessions/{id}/chat/stream", path: in("empty"), status: 204})
	d.do(t, call{pattern: "GET /api/sessions/{id}/chat/{chat}/stream", path: map[string]string{"id": "empty", "chat": "empty"}, status: 204})
	d.do(t, call{pattern: "GET /api/sessions/{id}/chat/{chat}/stream", path: map[string]string{"id": "empty", "chat": "empty"}, query: "?startIndex=-1", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/chat/{chat}/stream", path: map[string]string{"id": "empty", "chat": "run_x"}, query: "?startIndex=7", status: 410})

	d.do(t, call{pattern: "GET /api/sessions", status: 200})
	d.do(t, call{pattern: "GET /api/sessions", query: "?limit=0", status: 400})
	d.do(t, call{pattern: "GET /api/sessions", query: "?q=notes&agent=demo&state=idle&archived=false", status: 200})
	d.do(t, call{pattern: "GET /api/sessions", query: "?archived=maybe", status: 400})
	d.do(t, call{pattern: "GET /api/events", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}", path: in("notes"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}", path: in("nowhere"), status: 404})
	d.do(t, call{pattern: "PATCH /api/sessions/{id}", path: in("notes"), body: `{"title":"Other notes","archived":true}`, status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/export", path: in("notes"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/export", path: in("notes"), query: "?format=json", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/export", path: in("notes"), query: "?format=atif&version=1.8&content=none&denied=false&subagents=false", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/export", path: in("notes"), query: "?format=otlp", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/export", path: in("notes"), query: "?format=otlp-protobuf", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/export", path: in("notes"), query: "?format=pdf", status: 400})
	d.do(t, call{pattern: "GET /api/sessions/{id}/messages", path: in("notes"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/messages", path: in("notes"), query: "?after=0", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/trace", path: in("notes"), query: "?deltas=1", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/trace", path: in("notes"), query: "?request=none", status: 200})
	d.do(t, call{pattern: "POST /api/sessions/{id}/scores", path: in("notes"), body: `{"scores":[{"turn":"turn_x","name":"tests","verdict":"pass"}]}`, status: 400})
	ended := regexp.MustCompile(`"turn":"([^"]+)"`).FindStringSubmatch(d.do(t, call{pattern: "GET /api/sessions/{id}/trace", path: in("notes"), status: 200}))[1]
	d.do(t, call{pattern: "POST /api/sessions/{id}/scores", path: in("notes"), body: `{"scores":[{"turn":"` + ended + `","name":"tests","verdict":"pass","score":0.9,"reason":"9 of 10","evidence":["r1"],"case":"c"}]}`, status: 204})
	d.do(t, call{pattern: "GET /api/sessions/{id}/scores", path: in("notes"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/events", path: in("notes"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/channels", path: in("notes"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/tools", path: in("notes"), status: 200})
	member := map[string]string{"id": "notes", "principal": "carl"}
	d.do(t, call{pattern: "PUT /api/sessions/{id}/members/{principal}", path: member, body: `{"role":"viewer"}`, status: 200})
	d.do(t, call{pattern: "DELETE /api/sessions/{id}/members/{principal}", path: member, status: 200})

	once := waiting("once", "approve", "approvalId")
	d.do(t, call{pattern: "GET /api/chat/{id}/stream", path: in("once"), status: 200})
	d.do(t, call{pattern: "GET /api/requests", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/requests", path: in("once"), status: 200})
	answer := map[string]string{"id": "once", "request": once}
	d.do(t, call{pattern: "POST /api/sessions/{id}/permissions/{request}", path: answer, body: `{"approved":false,"reason":"not now"}`, status: 200})
	d.do(t, call{pattern: "POST /api/sessions/{id}/permissions/{request}", path: answer, body: `{"approved":true}`, status: 409})
	always := waiting("always", "approve", "approvalId")
	d.do(t, call{pattern: "POST /api/sessions/{id}/permissions/{request}", path: map[string]string{"id": "always", "request": always}, body: `{"option":"allow_always"}`, status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/controls", path: in("notes"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/files", path: in("notes"), query: "?q=main&limit=5", status: 404})
	queued := d.queued(t, "queued")
	d.do(t, call{pattern: "GET /api/sessions/{id}/queue", path: in("queued"), status: 200})
	d.do(t, call{pattern: "PATCH /api/sessions/{id}/queue/{turn}", path: queued, body: `{"text":"hello again"}`, status: 200})
	d.do(t, call{pattern: "PATCH /api/sessions/{id}/queue/{turn}", path: queued, body: `{"text":""}`, status: 400})
	d.do(t, call{pattern: "DELETE /api/sessions/{id}/queue/{turn}", path: queued, status: 204})
	d.do(t, call{pattern: "POST /api/sessions/{id}/queue/{turn}/promote", path: queued, status: 409})
	d.do(t, call{pattern: "POST /api/sessions/{id}/queue/{turn}/promote", path: d.queued(t, "promoted"), status: 204})
	d.queued(t, "held")
	d.do(t, call{pattern: "POST /api/sessions/{id}/stop", path: in("held"), body: `{"queue":"hold"}`, status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/queue", path: in("held"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}", path: in("held"), status: 200})
	d.do(t, call{pattern: "POST /api/sessions/{id}/queue/continue", path: in("held"), status: 204})
	d.do(t, call{pattern: "DELETE /api/sessions/{id}/queue", path: in("held"), status: 204})
	d.do(t, call{pattern: "POST /api/sessions/{id}/stop", path: in("held"), body: `{"queue":"keep"}`, status: 400})
	grants := d.do(t, call{pattern: "GET /api/sessions/{id}/grants", path: in("always"), status: 200})
	if g := regexp.MustCompile(`"id":"(grant_[^"]+)"`).FindStringSubmatch(grants); g != nil {
		d.do(t, call{pattern: "DELETE /api/sessions/{id}/grants/{grant}", path: map[string]string{"id": "always", "grant": g[1]}, status: 204})
	}
	d.do(t, call{pattern: "DELETE /api/sessions/{id}/grants/{grant}", path: map[string]string{"id": "always", "grant": "grant_x"}, status: 404})
	question := waiting("question", "ask", "toolCallId")
	d.do(t, call{pattern: "GET /api/sessions/{id}/requests", path: in("question"), status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}", path: in("question"), status: 200})
	d.do(t, call{pattern: "POST /api/sessions/{id}/questions/{request}", path: map[string]string{"id": "question", "request": question}, body: `{"value":"green"}`, status: 200})

	d.do(t, call{pattern: "GET /api/agents", status: 200})
	d.do(t, call{pattern: "GET /api/exporters", status: 200})
	d.do(t, call{pattern: "GET /api/agents/{agent}/conversations", path: map[string]string{"agent": "demo"}, status: 409})
	d.do(t, call{pattern: "GET /api/workspaces", status: 200})
	d.do(t, call{pattern: "GET /api/workspaces", user: "carl", status: 403})
	d.do(t, call{pattern: "DELETE /api/workspaces/{session}", path: map[string]string{"session": "notes"}, query: "?discard=true", status: 404})
	d.do(t, call{pattern: "DELETE /api/workspaces/{session}", path: map[string]string{"session": "notes"}, query: "?discard=all", status: 400})
	d.do(t, call{pattern: "GET /metrics", status: 200})
	d.do(t, call{pattern: "GET /healthz", status: 200})
	d.do(t, call{pattern: "GET /readyz", status: 200})
	d.do(t, call{pattern: "GET /", status: 200})

	d.do(t, call{pattern: "GET /auth/sign-in", status: 404})
	d.do(t, call{pattern: "GET /auth/callback", status: 404})
	d.do(t, call{pattern: "GET /auth/me", status: 200})
	d.do(t, call{pattern: "POST /auth/sign-in", status: 409})
	d.do(t, call{pattern: "POST /auth/sign-out", status: 409})
	d.do(t, call{pattern: "GET /auth/sign-ins", status: 200})
	d.do(t, call{pattern: "DELETE /auth/sign-ins/{id}", path: in("none"), status: 404})

	d.do(t, call{pattern: "GET /api/sessions/{id}/ws", path: in("notes"), query: "?role=client", status: 101})
	d.do(t, call{pattern: "GET /api/auth/me", status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/participants", path: in("notes"), status: 200})
	d.do(t, call{pattern: "POST /api/sessions/{id}/prompt", path: in("notes"), body: `{"content":"hello"}`, status: 200})
	d.do(t, call{pattern: "GET /api/sessions/{id}/threads", path: in("notes"), status: 501})
	d.do(t, call{pattern: "POST /api/sessions/{id}/threads", path: in("notes"), body: `{}`, status: 501})
	d.do(t, call{pattern: "GET /api/sessions/{id}/threads/active", path: in("notes"), status: 501})
	d.do(t, call{pattern: "POST /api/action-invocations/{invocation}/approve", path: map[string]string{"invocation": "x"}, body: `{}`, status: 501})
	d.do(t, call{pattern: "POST /api/action-invocations/{invocation}/deny", path: map[string]string{"invocation": "x"}, body: `{}`, status: 501})

	d.do(t, call{pattern: "DELETE /api/sessions/{id}", path: in("question"), status: 204})
	d.do(t, call{pattern: "DELETE /api/sessions/{id}", path: in("notes"), user: "vera", status: 403})

	for pattern := range d.routes {
		if !d.driven[pattern] {
			t.Errorf("no request of this test drives %s", pattern)
		}
	}
}

func TestPushedEventsAreThoseOfTheSpec(t *testing.T) {
	schemas := spec(t).Components.Schemas
	s := newStand(t, nil)
	// read checks the events against a schema, up to the first event of the type.
	read := func(events *stream, schema, kind string) {
		t.Helper()
		for {
			line, _ := events.until("data: ")
			var event map[string]any
			if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &event); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if err := schemas[schema].Value.VisitJSON(event); err != nil {
				t.Errorf("%s is no %s: %v", line, schema, err)
			}
			if event["type"] == kind {
				return
			}
		}
	}
	list := s.listen("/api/events?limit=1")
	read(list, "SessionsEvent", "list")
	s.do("POST", "/api/sessions", `{"id":"notes"}`)
	read(list, "SessionsEvent", "session")
	all := s.listen("/api/sessions/notes/events")
	read(all, "SessionEvent", "session")
	s.do("POST", "/api/chat", submit("notes", "u1", "approve"))
	read(all, "SessionEvent", "title")
	s.do("POST", "/api/chat/notes/stop", "")
	if status, _, body := s.do("POST", "/api/chat", `{"id":"notes","trigger":"regenerate-message","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"approve"}]}]}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	read(all, "SessionEvent", "history")
	read(s.listen("/api/sessions/notes/events?after=100000"), "SessionEvent", "session") // with the turn that waits, and reset
	s.do("DELETE", "/api/sessions/notes", "")
	read(all, "SessionEvent", "deleted")
	read(list, "SessionsEvent", "gone")
}
