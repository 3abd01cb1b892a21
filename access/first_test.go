package access

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// linkOf is the query with the secret of a link that works once.
func linkOf(t *testing.T, g *Guard) string {
	t.Helper()
	address, once := g.SignInURL("http://127.0.0.1:8787")
	u, err := url.Parse(address)
	if err != nil || !once || u.Query().Get("token") == "" {
		t.Fatalf("the link is %q, once: %v, %v", address, once, err)
	}
	return "GET /?" + u.RawQuery
}

// hashed is a guard that keeps the hash of the token in a file.
func hashed(t *testing.T, path string, store Store) *Guard {
	t.Helper()
	return newGuard(t, func(c *Config) { c.TokenFile, c.HashToken, c.Store = path, true, store })
}

// as sends a request of the page with a sign-in.
func as(g *Guard, cookie, page string) int {
	return ask(g, "GET /api/x", "Cookie: "+cookie, "X-Tributary-Page: "+page, "Sec-Fetch-Site: same-origin").Code
}

// entered opens a link and returns the sign-in that comes of it.
func entered(t *testing.T, g *Guard, line string) (cookie, page string) {
	t.Helper()
	w := ask(g, line)
	cookie, _, _ = strings.Cut(w.Header().Get("Set-Cookie"), ";")
	_, page, ok := strings.Cut(w.Header().Get("Location"), "#page=")
	if w.Code != http.StatusSeeOther || !ok || as(g, cookie, page) != http.StatusOK {
		t.Fatalf("%s: %d %v", line, w.Code, w.Header())
	}
	return cookie, page
}

func TestALinkSignsInOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		g := hashed(t, path, nil)
		line := linkOf(t, g)
		secret := strings.TrimPrefix(line, "GET /?token=")
		if w := ask(g, "GET /api/x", "Authorization: Bearer "+secret); w.Code != http.StatusUnauthorized {
			t.Errorf("the secret of the link is a token: %d", w.Code)
		}
		if w := ask(g, line+"&token=x"); w.Code != http.StatusUnauthorized {
			t.Errorf("the link beside another token: %d", w.Code)
		}
		if w := ask(g, line, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"); w.Code != http.StatusForbidden {
			t.Errorf("the link from a page elsewhere: %d", w.Code)
		}
		cookie, page := entered(t, g, line)
		if w := ask(g, line); w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("the link works twice: %d", w.Code)
		}
		if as(g, cookie, page) != http.StatusOK {
			t.Error("the second use ends the sign-in")
		}

		// Of many at once, one wins; a newer link replaces an older one; and it ends after 15 minutes.
		older, line := linkOf(t, g), linkOf(t, g)
		if w := ask(g, older); w.Code != http.StatusUnauthorized {
			t.Errorf("an older link: %d", w.Code)
		}
		var mu sync.Mutex
		wins := 0
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if ask(g, line).Code == http.StatusSeeOther {
					mu.Lock()
					wins++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if wins != 1 {
			t.Errorf("a link works %d times", wins)
		}
		late, soon := linkOf(t, g), ""
		time.Sleep(15 * time.Minute)
		if w := ask(g, late); w.Code != http.StatusUnauthorized {
			t.Errorf("a link after 15 minutes: %d", w.Code)
		}
		soon = linkOf(t, g)
		time.Sleep(15*time.Minute - time.Second)
		entered(t, g, soon)
		if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), tokenMark) {
			t.Errorf("the file holds %q, %v", text, err)
		}
	})
}

// broken is a store that cannot be written.
type broken struct{ Store }

func (broken) Put(context.Context, Kind, Entry) error { return errors.New("the disk is full") }

func TestALinkIsNotUsedUpByASignInThatFails(t *testing.T) {
	t.Parallel()
	store := NewMemory()
	g := hashed(t, filepath.Join(t.TempDir(), "token"), store)
	line := linkOf(t, g)
	g.signIns.Store = broken{store}
	if w := ask(g, line); w.Code != http.StatusServiceUnavailable {
		t.Errorf("with a broken store: %d", w.Code)
	}
	g.signIns.Store = store
	entered(t, g, line)
}

func TestACommandLeavesOnlyTheHashOfAToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	g := newGuard(t, func(c *Config) { c.TokenFile = path })
	if changed, err := HashTokenFile(path); !changed || err != nil {
		t.Errorf("HashTokenFile: %v, %v", changed, err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), g.minted) {
		t.Errorf("the file holds %q, %v", text, err)
	}
	token := g.minted
	for name, g := range map[string]*Guard{"running meanwhile": g, "after": hashed(t, path, nil)} {
		if w := ask(g, "GET /api/x", "Authorization: Bearer "+token); w.Body.String() != "operator admin" {
			t.Errorf("%s, the token: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestAnExistingTokenStaysValidWhenOnlyItsHashIsKept(t *testing.T) {
	t.Parallel()
	path, store := filepath.Join(t.TempDir(), "token"), NewMemory()
	alone := newGuard(t, func(c *Config) { c.TokenFile, c.Store = path, store })
	token := alone.minted
	if text, err := os.ReadFile(path); err != nil || string(text) != token+"\n" {
		t.Fatalf("for one person the file holds %q, %v", text, err)
	}
	if address, once := alone.SignInURL("http://127.0.0.1:8787"); once || address != "http://127.0.0.1:8787/?token="+token {
		t.Errorf("for one person the URL is %s, once: %v", address, once)
	}
	cookie, page := entered(t, alone, "GET /?token="+token)
	g := hashed(t, path, store)
	text, err := os.ReadFile(path)
	if info, statErr := os.Stat(path); err != nil || statErr != nil || strings.Contains(string(text), token) || info.Mode().Perm() != 0o600 {
		t.Errorf("the file holds %q, %v, %v", text, err, info)
	}
	for name, g := range map[string]*Guard{"after": g, "running meanwhile": alone, "again": hashed(t, path, store)} {
		if w := ask(g, "GET /api/x", "Authorization: Bearer "+token); w.Body.String() != "operator admin" {
			t.Errorf("%s, the token: %d %s", name, w.Code, w.Body)
		}
		if as(g, cookie, page) != http.StatusOK {
			t.Errorf("%s, the sign-in is over", name)
		}
		for word := range strings.FieldsSeq(string(text)) {
			for _, word := range []string{word, word[strings.Index(word, ":")+1:]} {
				if w := ask(g, "GET /api/x", "Authorization: Bearer "+word); w.Code != http.StatusUnauthorized {
					t.Errorf("%s, %q is a token: %d", name, word, w.Code)
				}
			}
		}
	}
	if _, err := ReadTokenFile(path); !errors.Is(err, ErrHashed) {
		t.Errorf("ReadTokenFile: %v", err)
	}
	if changed, err := HashTokenFile(path); changed || err != nil {
		t.Errorf("HashTokenFile: %v, %v", changed, err)
	}
	if _, err := readToken(strings.NewReader(string(text)), path); err == nil {
		t.Error("an older program would take the hash for a token")
	}
}

func TestANewTokenReplacesTheOldOneWhileTheGatewayRuns(t *testing.T) {
	t.Parallel()
	for _, several := range []bool{false, true} {
		path, store := filepath.Join(t.TempDir(), "token"), NewMemory()
		made := func() *Guard {
			return newGuard(t, func(c *Config) { c.TokenFile, c.HashToken, c.Store = path, several, store })
		}
		g := made()
		old, err := ResetTokenFile(path, several)
		if err != nil {
			t.Fatal(err)
		}
		bearer := func(g *Guard, token string) int { return ask(g, "GET /api/x", "Authorization: Bearer "+token).Code }
		if got := bearer(g, old); got != http.StatusOK {
			t.Fatalf("several %v: the new token: %d", several, got)
		}
		signIns := [][2]string{}
		add := func(cookie, page string) { signIns = append(signIns, [2]string{cookie, page}) }
		add(entered(t, g, "GET /?token="+old))
		if several {
			add(entered(t, g, linkOf(t, g)))
		}
		walls, wallsPage := entered(t, g, "GET /?token="+viewToken)
		token, err := ResetTokenFile(path, several)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := bearer(g, token), bearer(g, old); a != http.StatusOK || b != http.StatusUnauthorized {
			t.Errorf("several %v: the new token %d, the old one %d", several, a, b)
		}
		for _, s := range signIns {
			if got := as(g, s[0], s[1]); got != http.StatusUnauthorized {
				t.Errorf("several %v: a sign-in of the old token: %d", several, got)
			}
		}
		if again := made(); several {
			for _, g := range []*Guard{g, again} {
				if got := as(g, walls, wallsPage); got != http.StatusOK {
					t.Errorf("the sign-in of somebody else is over: %d", got)
				}
			}
		}
		if text, err := ReadTokenFile(path); several != errors.Is(err, ErrHashed) || !several && text != token {
			t.Errorf("several %v: the file holds %q, %v", several, text, err)
		}

		// A file that cannot be used changes nothing, and neither does one that is gone.
		if err := os.WriteFile(path, []byte("sha256:00\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := bearer(g, token); got != http.StatusOK {
			t.Errorf("with a damaged file: %d", got)
		}
		if _, err := New(Config{Listen: "127.0.0.1:1", TokenFile: path}); err == nil || !strings.Contains(err.Error(), "run `tributary token reset`") {
			t.Errorf("a start with a damaged file: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if got := bearer(g, token); got != http.StatusOK {
			t.Errorf("without the file: %d", got)
		}
		if _, err := ReadTokenFile(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadTokenFile without a file: %v", err)
		}
	}
}

// A link that was printed before a reset signs nobody in after it.
func TestALinkEndsWithTheTokenForWhichItWasMade(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	g := hashed(t, path, nil)
	link := linkOf(t, g)
	if w := ask(g, link, "Sec-Purpose: prefetch;prerender"); w.Code != http.StatusServiceUnavailable || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a browser that only prefetches the link: %d %v", w.Code, w.Header())
	}
	if _, err := ResetTokenFile(path, true); err != nil {
		t.Fatal(err)
	}
	if w := ask(g, link); w.Code != http.StatusUnauthorized {
		t.Errorf("the link after the reset: %d", w.Code)
	}
	entered(t, g, linkOf(t, g))
}

// A reset writes the token itself only where the token itself could be read before.
func TestAResetDoesNotTurnAHashIntoAToken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	for name, damage := range map[string]func() error{
		"a file that others can write": func() error { return os.Chmod(path, 0o666) }, //nolint:gosec // the test's fault
		"no file":                      func() error { return os.Remove(path) },
		"a hash that was cut":          func() error { return os.WriteFile(path, []byte("sha256:00\n"), 0o600) },
	} {
		if _, err := ResetTokenFile(path, true); err != nil {
			t.Fatal(err)
		}
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := ResetTokenFile(path, false); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTokenFile(path); !errors.Is(err, ErrHashed) {
			t.Errorf("%s: the file holds the token itself: %v", name, err)
		}
	}
}

// A request that is open when the token is replaced ends within seconds.
func TestAnOpenRequestEndsWithTheTokenThatWasReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		token, err := ResetTokenFile(path, true)
		if err != nil {
			t.Fatal(err)
		}
		g := hashed(t, path, nil)
		open := make(chan struct{})
		ended := false
		done := make(chan struct{})
		go func() {
			defer close(done)
			h := g.Wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				close(open)
				<-r.Context().Done()
				ended = true
			}))
			r := httptest.NewRequest(http.MethodGet, "/api/x", nil)
			r.Host, r.RemoteAddr = "127.0.0.1:8787", "127.0.0.1:40000"
			r.Header.Set("Authorization", "Bearer "+token)
			h.ServeHTTP(httptest.NewRecorder(), r)
		}()
		<-open
		if _, err := ResetTokenFile(path, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * checkEvery)
		synctest.Wait()
		if <-done; !ended {
			t.Error("the request goes on")
		}
	})
}
