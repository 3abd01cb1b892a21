package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/openidtest"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
	"github.com/tributary-dev/tributary/policy/box"
)

// browser is a browser with the gateway's page: it keeps cookies, and the page's secret.
type browser struct {
	t      *testing.T
	client *http.Client
	base   string
	page   string
}

func newBrowser(t *testing.T, base string, transport http.RoundTripper) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, Transport: transport, CheckRedirect: openidtest.Redirects}, base, ""}
}

// ask sends a request as the page does.
func (b *browser) ask(method, path, body string) (int, string) {
	b.t.Helper()
	res := b.send(method, path, body)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func (b *browser) send(method, path, body string) *http.Response {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		req.Header.Set("Origin", b.base)
	}
	if b.page != "" {
		req.Header.Set("X-Tributary-Page", b.page)
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

// open opens the URL with a token, as a person who types it.
func (b *browser) open(token string) {
	b.t.Helper()
	res, err := b.client.Get(b.base + "/?token=" + token)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = res.Body.Close()
	b.land(res)
}

// land takes the page's secret out of the address that the browser is sent to.
func (b *browser) land(res *http.Response) url.Values {
	b.t.Helper()
	to, err := res.Location()
	if err != nil {
		b.t.Fatalf("the browser is not sent to the page: %s", res.Status)
	}
	values, err := url.ParseQuery(to.Fragment)
	if err != nil || values.Get("page") == "" {
		b.t.Fatalf("the page gets no secret: %s", to)
	}
	b.page = values.Get("page")
	return values
}

// begin begins to sign in and returns the provider's address.
func (b *browser) begin(attempt string) string {
	b.t.Helper()
	res := b.send(http.MethodGet, "/auth/sign-in?page="+attempt, "")
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil {
		b.t.Fatalf("to sign in: %s", res.Status)
	}
	return to.String()
}

// callback comes back from the provider, by a link of another site.
func (b *browser) callback(at string) *http.Response {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, at, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	return res
}

func (b *browser) signIn(user string) {
	b.t.Helper()
	res := b.callback(openidtest.SignIn(b.t, newBrowser(b.t, "", nil).client, b.begin("mine"), user))
	_ = res.Body.Close()
	if got := b.land(res).Get("for"); got != "mine" {
		b.t.Errorf("the sign-in is for the attempt %q of the page", got)
	}
}

// A collaborator of the team whose configuration oidc.md prints has an agent read what the gateway keeps, and cannot allow
// it; if an admin does, the box opens nothing. Of the printed text only what belongs to its machine is another: addresses,
// files, the provider's claims, and an agent that the test can script, with the gateway's own user.
func TestTheTeamThatOidcPagePrintsGetsNoToken(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/deploy/oidc.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```yaml\nlisten:")
	block, _, _ = strings.Cut("listen:"+block, "```")
	model := httptest.NewServer(scriptedmodel.New(scriptedmodel.Options{}))
	t.Cleanup(model.Close)
	listen := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	data := filepath.Join(t.TempDir(), "data")
	for printed, here := range map[string]string{
		"listen: 127.0.0.1:8787":             "listen: " + listen,
		"https://agents.example.com":         "http://" + listen,
		"/var/lib/tributary/data":            data,
		"/var/lib/tributary-agent/workspace": t.TempDir(),
		"https://id.example.com/realms/team": openidtest.Start(t, "http://"+listen+"/auth/callback"),
		"client_id: tributary":               "client_id: " + openidtest.Client,
		"/etc/tributary/oidc-secret":         file(t, "secret", openidtest.Secret+"\n"),
		"role_claim: groups":                 "role_claim: email\n    user_info: true",
		"engineering: collaborator":          "test-user2@zitadel.ch: collaborator",
		"platform: admin":                    "test-user@zitadel.ch: admin",
		"claude: {user: tributary-agent}":    "coder: {adapter: openai, url: " + model.URL + "/v1, model: m}",
	} {
		if strings.Count(block, printed) != 1 {
			t.Fatalf("oidc.md prints %q %d times in\n%s", printed, strings.Count(block, printed), block)
		}
		block = strings.Replace(block, printed, here, 1)
	}
	s := startServer(t, data, "--config", file(t, "tributary.yaml", block), "--listen", listen)
	ada, root := newBrowser(t, s.base, nil), newBrowser(t, s.base, nil)
	ada.signIn(openidtest.User)
	root.signIn(openidtest.Admin)
	_, stream := ada.ask("POST", "/api/chat?agent=coder", chat("s1", `[[script:call bash {"command":"cat `+data+`/token; echo $((40 + 2)) came"}]]`))
	request := regexp.MustCompile(`"approvalId":"([^"]+)"`).FindStringSubmatch(stream)
	if request == nil {
		t.Fatalf("nobody is asked: %s", stream)
	}
	answer := "/api/sessions/s1/permissions/" + request[1]
	if status, body := ada.ask("POST", answer, `{"approved":true}`); status != http.StatusForbidden {
		t.Errorf("a collaborator allows it: %d %s", status, body)
	}
	if err := box.Available(box.Strict); err != nil {
		t.Skip("the kernel gives no box: ", err)
	}
	if status, body := root.ask("POST", answer, `{"approved":true}`); status != http.StatusOK {
		t.Errorf("an admin cannot allow it: %d %s", status, body)
	}
	history := ""
	for deadline := time.Now().Add(patience); !strings.Contains(history, "42 came"); time.Sleep(20 * time.Millisecond) {
		if _, history = ada.ask("GET", "/api/sessions/s1/messages", ""); time.Now().After(deadline) {
			t.Fatalf("the command does not run: %s", history)
		}
	}
	if strings.Contains(history, "sha256:") {
		t.Errorf("the command has read the gateway's token: %s", history)
	}
}

// freePort is a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l := agenttest.ListenAlone(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert,errcheck // it is TCP
}

// withProvider starts a gateway and the provider with which people sign in to it.
func withProvider(t *testing.T) (s *server, data string) {
	t.Helper()
	port := freePort(t)
	public := fmt.Sprintf("http://127.0.0.1:%d", port)
	issuer := openidtest.Start(t, public+"/auth/callback")
	conf := file(t, "tributary.yaml", fmt.Sprintf(`
public_url: %s
agents: {demo: {options: {pace: 20ms}}}
auth:
  oidc:
    issuer: %s
    client_id: web
    client_secret_file: %s
    user_info: true
    name_claim: email
    role_claim: email
    roles: {test-user@zitadel.ch: admin, test-user2@zitadel.ch: collaborator}
`, public, issuer, file(t, "secret", openidtest.Secret+"\n")))
	data = filepath.Join(t.TempDir(), "data")
	return startServer(t, data, "--config", conf, "--listen", fmt.Sprintf("127.0.0.1:%d", port)), data
}

func TestPeopleSignInToThePageWithAnOpenIDProvider(t *testing.T) {
	t.Parallel()
	s, data := withProvider(t)
	ada, bob := newBrowser(t, s.base, nil), newBrowser(t, s.base, nil)
	if status, body := ada.ask("GET", "/auth/me", ""); status != 200 || !strings.Contains(body, `{"user":null,"sign_in":"/auth/sign-in"`) {
		t.Errorf("before signing in: %d %s", status, body)
	}
	ada.signIn(openidtest.Admin)
	bob.signIn(openidtest.User)
	if status, body := bob.ask("GET", "/auth/me", ""); status != 200 || !strings.Contains(body, `"role":"collaborator"`) || !strings.Contains(body, `"name":"test-user2@zitadel.ch"`) {
		t.Errorf("who bob is: %d %s", status, body)
	}
	if status, stream := bob.ask("POST", "/api/chat", chat("s1", "hello")); status != 200 || !strings.HasSuffix(stream, "data: [DONE]\n\n") {
		t.Errorf("bob's chat: %d %s", status, stream)
	}

	// Each factor alone opens nothing.
	secret := bob.page
	for page, code := range map[string]string{"": "page_secret_missing", ada.page: "page_secret_wrong"} {
		bob.page = page
		for _, method := range []string{"GET", "POST"} {
			if status, body := bob.ask(method, "/api/sessions", "{}"); status != 401 || !strings.Contains(body, code) {
				t.Errorf("%s with the cookie and the secret %q: %d %s, want %s", method, page, status, body, code)
			}
		}
	}
	stranger := newBrowser(t, s.base, nil)
	stranger.page = secret
	if status, body := stranger.ask("GET", "/api/sessions", ""); status != 401 {
		t.Errorf("the secret without the cookie: %d %s", status, body)
	}
	bob.page = secret

	// An admin sees all sign-ins, others see their own.
	var own, all struct {
		SignIns []struct{ ID, User, By string } `json:"sign_ins"`
	}
	for b, into := range map[*browser]any{ada: &all, bob: &own} {
		_, body := b.ask("GET", "/auth/sign-ins", "")
		if err := json.Unmarshal([]byte(body), into); err != nil {
			t.Fatal(err, body)
		}
	}
	if len(own.SignIns) != 1 || len(all.SignIns) != 2 || own.SignIns[0].By != "oidc" {
		t.Fatalf("bob sees %v, ada %v", own, all)
	}
	var adas string
	for _, i := range all.SignIns {
		if i.ID != own.SignIns[0].ID {
			adas = i.ID
		}
	}
	if status, body := bob.ask("DELETE", "/auth/sign-ins/"+adas, ""); status != 404 {
		t.Errorf("bob ends ada's sign-in: %d %s", status, body)
	}
	listed := command(t, "", "signins", "list", "--data", data)
	listed.want(t, exitOK, "")
	if !strings.Contains(listed.out, own.SignIns[0].ID) || !strings.Contains(listed.out, "test-user2@zitadel.ch") {
		t.Errorf("signins list prints\n%s", listed.out)
	}

	// A stream that is open when its sign-in is revoked ends within seconds.
	res := bob.send("GET", "/api/sessions/s1/events", "")
	defer res.Body.Close()
	ended := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(res.Body)
		ended <- string(text)
	}()
	revoked := command(t, "", "signins", "revoke", own.SignIns[0].ID, "--data", data)
	revoked.want(t, exitOK, "")
	select {
	case text := <-ended:
		if !strings.Contains(text, "token_expired") {
			t.Errorf("the stream ends with %q", text)
		}
	case <-time.After(patience):
		t.Error("the stream goes on after its sign-in was revoked")
	}
	if status, body := bob.ask("GET", "/api/sessions", ""); status != 401 || !strings.Contains(body, "sign_in_over") {
		t.Errorf("after the revocation: %d %s", status, body)
	}
	command(t, "", "signins", "revoke", own.SignIns[0].ID, "--data", data).want(t, exitFailed, "there is no sign-in")

	// All sign-ins of one person end at once, and those of others go on.
	again := newBrowser(t, s.base, nil)
	bob.signIn(openidtest.User)
	again.signIn(openidtest.User)
	command(t, "", "signins", "revoke", "--user", "nobody", "--data", data).want(t, exitFailed, `"nobody" is not signed in`)
	command(t, "", "signins", "revoke", "--data", data).want(t, exitUsage, "the id is missing")
	if r := command(t, "", "signins", "revoke", "--user", "test-user2@zitadel.ch", "--data", data); r.status != exitOK || !strings.Contains(r.out, "are over: 2.") {
		t.Errorf("%d %s%s", r.status, r.out, r.errors)
	}
	for _, b := range []*browser{bob, again} {
		for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // the gateway remembers a sign-in for 2 s
			if status, _ := b.ask("GET", "/api/sessions", ""); status == 401 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal("a sign-in goes on after those of its person were ended")
			}
		}
	}
	if status, body := ada.ask("GET", "/api/sessions", ""); status != 200 {
		t.Errorf("somebody else: %d %s", status, body)
	}

	// An admin revokes over HTTP, and a person signs out.
	bob.signIn(openidtest.User)
	_, body := bob.ask("GET", "/auth/sign-ins", "")
	if err := json.Unmarshal([]byte(body), &own); err != nil {
		t.Fatal(err)
	}
	if status, body := ada.ask("DELETE", "/auth/sign-ins/"+own.SignIns[0].ID, ""); status != 204 {
		t.Errorf("an admin ends a sign-in: %d %s", status, body)
	}
	if status, _ := bob.ask("GET", "/api/sessions", ""); status != 401 {
		t.Errorf("after the admin revoked it: %d", status)
	}
	stolen := *ada
	if status, body := ada.ask("POST", "/auth/sign-out", ""); status != 204 {
		t.Errorf("sign out: %d %s", status, body)
	}
	if status, _ := stolen.ask("GET", "/api/sessions", ""); status != 401 {
		t.Errorf("after signing out: %d", status)
	}
}

func TestNobodyIsSignedInAsSomebodyElse(t *testing.T) {
	t.Parallel()
	s, _ := withProvider(t)
	victim, attacker := newBrowser(t, s.base, nil), newBrowser(t, s.base, nil)
	refused := func(res *http.Response, what, want string) {
		t.Helper()
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode/100 != 4 || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s %s, want %q", what, res.Status, body, want)
		}
	}
	// The attacker signs in with an account of their own, and gives the last link to the victim.
	link := openidtest.SignIn(t, newBrowser(t, "", nil).client, attacker.begin("theirs"), openidtest.User)
	refused(victim.callback(link), "the link of somebody else's attempt", "not begun in this browser")
	victim.begin("own")
	refused(victim.callback(link), "the same in the middle of an attempt of one's own", "not begun in this browser")

	// A code counts once, and only with its own attempt.
	mine := victim.begin("again")
	back := openidtest.SignIn(t, newBrowser(t, "", nil).client, mine, openidtest.User)
	other, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	query := other.Query()
	query.Set("code", theirs.Query().Get("code")) // a code of another attempt: PKCE and the nonce do not fit
	other.RawQuery = query.Encode()
	refused(victim.callback(other.String()), "a code of another attempt", "has not confirmed who you are")
	refused(victim.callback(back), "the attempt is used up", "not begun in this browser")

	refused(victim.callback(s.base+"/auth/callback?state=x&error=access_denied"), "nothing but an error", "not begun in this browser")
	res := victim.callback(s.base + "/auth/sign-in?page=x")
	refused(res, "a link of another site that begins to sign in", "another site")
	refused(victim.send("GET", "/auth/sign-in", ""), "without the page", "Sign in from the page")
	denied, err := url.Parse(victim.begin("denied"))
	if err != nil {
		t.Fatal(err)
	}
	refused(victim.callback(s.base+"/auth/callback?error=access_denied&state="+denied.Query().Get("state")), "a person says no", "access_denied")
	for _, cookie := range victim.client.Jar.Cookies(&url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/"}) {
		if !strings.HasSuffix(cookie.Name, "_attempt") {
			t.Errorf("the victim has the cookie %s", cookie.Name)
		}
	}
}

func TestASignInByTokenEndsWithItsToken(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, data)
	made := command(t, "", "token", "create", "ada", "--role", "viewer", "--data", data)
	made.want(t, exitOK, "It is shown only now.")
	token := strings.TrimSpace(made.out)
	page := newBrowser(t, s.base, nil)
	page.open(token)
	if status, body := page.ask("GET", "/auth/me", ""); status != 200 || !strings.Contains(body, `"id":"token:ada","name":"ada","role":"viewer"`) {
		t.Fatalf("%d %s", status, body)
	}
	command(t, "", "token", "revoke", "ada", "--data", data).want(t, exitOK, "")
	deadline := time.Now().Add(patience)
	for {
		status, body := page.ask("GET", "/api/sessions", "")
		if status == 401 && strings.Contains(body, "sign_in_over") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the sign-in outlives its token: %d %s", status, body)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
