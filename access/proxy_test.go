package access

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// How a request arrives: from a proxy that is trusted, and from others that say the same.
func TestForwardedHeadersCountFromTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	trusted, err := newProxies([]string{"10.0.0.0/8", "127.0.0.1", "fd00::1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, from string
		headers    []string
		want       string
	}{
		{"nothing", "10.0.0.1:1", nil, "http inner 10.0.0.1"},
		{"all three", "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https", "X-Forwarded-Host: out.example"}, "https out.example 203.0.113.9"},
		{"from anybody", "203.0.113.5:1", []string{"X-Forwarded-For: 203.0.113.9", "X-Forwarded-Proto: https", "X-Forwarded-Host: out.example"}, "http inner 203.0.113.5"},
		{"from another address of loopback", "127.0.0.2:1", []string{"X-Forwarded-Proto: https"}, "http inner 127.0.0.2"},
		{"two proxies", "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.9, 10.0.0.7"}, "http inner 203.0.113.9"},
		{"a made-up start of the list", "10.0.0.1:1", []string{"X-Forwarded-For: 127.0.0.1, 10.1.1.1, 203.0.113.9"}, "http inner 203.0.113.9"},
		{"a made-up first line", "10.0.0.1:1", []string{"X-Forwarded-For: 127.0.0.1", "X-Forwarded-For: 203.0.113.9"}, "http inner 203.0.113.9"},
		{"no address", "10.0.0.1:1", []string{"X-Forwarded-For: unknown"}, "http inner 10.0.0.1"},
		{"an address with a port", "10.0.0.1:1", []string{"X-Forwarded-For: 203.0.113.9:4711"}, "http inner 203.0.113.9"},
		{"IPv6", "[fd00::1]:1", []string{"X-Forwarded-For: 2001:db8::1"}, "http inner 2001:db8::1"},
		{"another scheme", "10.0.0.1:1", []string{"X-Forwarded-Proto: gopher"}, "http inner 10.0.0.1"},
		{"two schemes", "10.0.0.1:1", []string{"X-Forwarded-Proto: http, https"}, "https inner 10.0.0.1"},
		{"Forwarded", "10.0.0.1:1", []string{`Forwarded: for="[2001:db8::1]:4711";proto=https;host="out.example"`}, "https out.example 2001:db8::1"},
		{"Forwarded by two", "10.0.0.1:1", []string{`Forwarded: for=203.0.113.9;proto=https, for=10.0.0.2;host=out.example`}, "http out.example 203.0.113.9"},
		{"Forwarded by the client, X-Forwarded by the proxy", "10.0.0.1:1", []string{"Forwarded: for=127.0.0.1;proto=https;host=evil.example", "X-Forwarded-For: 203.0.113.9"}, "http inner 203.0.113.9"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://inner/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.RemoteAddr = c.from
		for _, h := range c.headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Add(name, value)
		}
		host, scheme, client := trusted.unwrap(r)
		if got := scheme + " " + host + " " + client.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Behind a proxy that ends TLS, the page is the page of the public URL.
func TestThePageBehindAProxyWithTLS(t *testing.T) {
	t.Parallel()
	const public, plain = "Origin: https://agents.example", "Origin: http://agents.example"
	named := newGuard(t, func(c *Config) { c.PublicURL = "https://agents.example" })
	told := newGuard(t, func(c *Config) { c.TrustedProxies, c.AllowHosts = []string{"127.0.0.1"}, []string{"agents.example"} })
	forwards := []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: agents.example"}
	cookie := signedIn(t, named, named.minted)
	if !strings.HasPrefix(cookie, "Cookie: __Host-tributary_page_") {
		t.Errorf("the cookie is not for https: %s", cookie)
	}
	runGuardCases(t, named, []guardCase{
		{"the proxy keeps the host", "POST /api/chat", []string{"Host: agents.example", public, cookie}, "operator admin"},
		{"the proxy names its own", "POST /api/chat", []string{public, cookie}, "operator admin"},
		{"the proxy adds a port", "POST /api/chat", []string{"Host: agents.example:443", public, cookie}, "operator admin"},
		{"a page without TLS", "POST /api/chat", []string{"Host: agents.example", "Origin: http://agents.example:8443", cookie}, "origin_not_allowed"},
		{"another port", "POST /api/chat", []string{"Origin: https://agents.example:8443", cookie}, "origin_not_allowed"},
		{"another host", "POST /api/chat", []string{"Host: evil.example", public, cookie}, "host_not_allowed"},
		{"a forwarded host that nobody may tell", "POST /api/chat", []string{"X-Forwarded-Host: evil.example", public, cookie}, "operator admin"},
	})
	cookie = signedIn(t, told, told.minted, forwards...)
	runGuardCases(t, told, []guardCase{
		{"as the proxy tells", "POST /api/chat", append(forwards, public, cookie), "operator admin"},
		{"a page without TLS", "POST /api/chat", append(forwards, plain, cookie), "origin_not_allowed"},
		{"a host that is not ours", "POST /api/chat", []string{"X-Forwarded-Host: evil.example", public, cookie}, "host_not_allowed"},
		{"from somebody else", "POST /api/chat", append(forwards, "From: 192.0.2.9:1", "Host: agents.example", public, cookie), "origin_not_allowed"},
	})
	if got := named.URL("http://127.0.0.1:8787"); got != "https://agents.example/?token="+named.minted {
		t.Errorf("URL %s", got)
	}
}

func TestAnAddressWithManyWrongTokensHasToWait(t *testing.T) {
	t.Parallel()
	web := signer{"", jose.EdDSA, newEdKey(t)}
	mode := jwtMode(JWT{KeyFile: web.pem(t)})
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, mode)
		try := func(from, token string) int {
			return ask(g, "GET /api/sessions", "From: "+from+":1", "Authorization: Bearer "+token).Code
		}
		const attacker, other = "192.0.2.66", "192.0.2.67"
		guesses := 0
		guess := func() string { guesses++; return fmt.Sprintf("wrong-%d", guesses) }
		for range 5 * freeStrikes { // a script that goes on with an old token
			if status := try(attacker, "stale"); status != http.StatusUnauthorized {
				t.Fatalf("the same wrong token again: %d", status)
			}
		}
		for range freeStrikes - 1 {
			if status := try(attacker, guess()); status != http.StatusUnauthorized {
				t.Fatalf("one of the first wrong tokens: %d", status)
			}
		}
		w := ask(g, "GET /api/sessions", "From: "+attacker+":1", "Authorization: Bearer "+guess())
		if after, err := strconv.Atoi(w.Header().Get("Retry-After")); w.Code != http.StatusTooManyRequests || err != nil || after < 1 || !strings.Contains(w.Body.String(), "too_many_wrong_tokens") {
			t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
		}
		if w := ask(g, "GET /?token="+guess(), "From: "+attacker+":1"); w.Code != http.StatusTooManyRequests {
			t.Errorf("a guess in the URL: %d", w.Code)
		}
		if status := try(attacker, "stale"); status != http.StatusUnauthorized {
			t.Errorf("the same wrong token, while the address has to wait: %d", status)
		}
		created, err := CreateToken(t.Context(), g.tokens.Store, Named{Name: "new", Role: Viewer})
		if err != nil {
			t.Fatal(err)
		}
		for what, token := range map[string]string{"a configured token": workToken, "a created one": created, "that of the admin": g.minted, "a JSON Web Token": web.token(t, nil)} {
			if status := try(attacker, token); status != http.StatusOK {
				t.Errorf("%s, which others made to wait: %d", what, status)
			}
			if strings.HasPrefix(token, "eyJ") {
				continue
			}
			if w := ask(g, "GET /?token="+token, "From: "+attacker+":1"); w.Code != http.StatusSeeOther {
				t.Errorf("%s in the URL: %d", what, w.Code)
			}
		}
		if status := try(attacker, web.token(t, claims{"aud": "x", "exp": time.Now().Add(-time.Hour).Unix()})); status != http.StatusUnauthorized {
			t.Errorf("a JSON Web Token that has expired: %d", status)
		}
		if status := try(other, workToken); status != http.StatusOK {
			t.Errorf("another address: %d", status)
		}
		// The wait doubles, up to a minute, and ends.
		waits := []time.Duration{}
		for range 9 {
			from := time.Now()
			for try(attacker, guess()) == http.StatusTooManyRequests {
				time.Sleep(time.Second)
			}
			waits = append(waits, time.Since(from))
		}
		for i := 1; i < len(waits); i++ {
			if waits[i] < min(2*waits[i-1]-time.Second, longestBackoff) || waits[i] > longestBackoff+time.Second {
				t.Errorf("the waits are %v", waits)
				break
			}
		}
		time.Sleep(strikesLast + time.Minute)
		if status := try(attacker, guess()); status != http.StatusUnauthorized {
			t.Errorf("after a long time: %d", status)
		}
		if status := try(attacker, workToken); status != http.StatusOK {
			t.Errorf("a right token after that: %d", status)
		}
	})
}

func TestTheMemoryOfWrongTokensIsBounded(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	for i := range mostAddresses + 500 {
		from := "From: 198." + strconv.Itoa(i>>16) + "." + strconv.Itoa(i>>8&255) + "." + strconv.Itoa(i&255) + ":1"
		for _, token := range []string{"wrong", viewToken} {
			ask(g, "GET /api/sessions", from, "Authorization: Bearer "+token)
		}
	}
	if len(g.backoff.of) != mostAddresses || g.backoff.order.Len() != mostAddresses {
		t.Errorf("%d addresses are kept", len(g.backoff.of))
	}
	for i := range 3 * freeStrikes { // a local proxy that is not trusted sends the requests of everybody
		if w := ask(g, "GET /api/sessions", fmt.Sprintf("Authorization: Bearer wrong-%d", i)); w.Code != http.StatusUnauthorized {
			t.Fatalf("loopback has to wait: %d", w.Code)
		}
	}
}

func TestOnePersonHasABoundedNumberOfSignIns(t *testing.T) {
	t.Parallel()
	g := newGuard(t, nil)
	first := signedIn(t, g, viewToken)
	others := signedIn(t, g, workToken)
	for range mostSignIns {
		signedIn(t, g, viewToken)
	}
	all, err := SignIns(t.Context(), g.signIns.Store)
	if err != nil || len(all) != mostSignIns+1 {
		t.Errorf("%d sign-ins, %v", len(all), err)
	}
	const ours = "Sec-Fetch-Site: same-origin"
	runGuardCases(t, g, []guardCase{
		{"the oldest is over", "", []string{first, ours}, "sign_in_over"},
		{"somebody else's is not", "", []string{others, ours}, "ci collaborator"},
	})
}

func TestASignInExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, func(c *Config) { c.SignInLifetime = time.Hour })
		cookie := signedIn(t, g, g.minted)
		const ours = "Sec-Fetch-Site: same-origin"
		if w := ask(g, "GET /api/sessions", cookie, ours); w.Code != http.StatusOK {
			t.Errorf("at once: %d %s", w.Code, w.Body)
		}
		time.Sleep(time.Hour)
		if w := ask(g, "GET /api/sessions", cookie, ours); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "sign_in_over") {
			t.Errorf("an hour later: %d %s", w.Code, w.Body)
		}
	})
}
