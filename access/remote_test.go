package access

import (
	"context"
	"crypto/elliptic"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// publisher is an issuer that publishes its keys, on loopback.
type publisher struct {
	*httptest.Server
	asked atomic.Int32 // for the keys
	mu    sync.Mutex
	keys  []json.RawMessage
	does  http.HandlerFunc // instead, if set
}

func newPublisher(t *testing.T, signers ...signer) *publisher {
	t.Helper()
	p := &publisher{}
	p.publish(t, signers...)
	mux := http.NewServeMux()
	mux.HandleFunc("/realm/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q,"authorization_endpoint":"x"}`, p.URL+"/realm", p.URL+"/keys")
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		p.mu.Lock()
		does, keys := p.does, p.keys
		p.mu.Unlock()
		if does != nil {
			does(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *publisher) publish(t *testing.T, signers ...signer) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys, p.does = nil, nil
	for _, s := range signers {
		p.keys = append(p.keys, s.jwk(t))
	}
}

func (p *publisher) answers(h http.HandlerFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.does = h
}

// later makes the guard's keys older, so that nothing has to wait.
func later(g *Guard, by time.Duration) {
	r := g.jwt.keys.(*remoteKeys)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tried, r.at = r.tried.Add(-by), r.at.Add(-by)
}

func TestB04_JWKSOverLoopback(t *testing.T) {
	t.Parallel()
	first, second := signer{"one", jose.ES256, newECKey(t, elliptic.P256())}, signer{"two", jose.RS256, rsaKey()}
	hidden := signer{"secret", jose.HS256, []byte(secret)}
	p := newPublisher(t, first, hidden)
	g := newGuard(t, jwtMode(JWT{JWKSURL: p.URL + "/keys", Audience: []string{"tributary"}}))
	if n := p.asked.Load(); n != 0 {
		t.Errorf("the keys were asked for %d times before anybody came", n)
	}
	aud := claims{"aud": "tributary"}
	for range 3 {
		if got := bring(g, first.token(t, aud)); got != "ada viewer" {
			t.Errorf("%s", got)
		}
	}
	if got := bring(g, hidden.token(t, aud)); got != "token_wrong" {
		t.Errorf("a secret that everybody can read: %s", got)
	}
	if n := p.asked.Load(); n != 1 {
		t.Errorf("asked %d times: what is cached is used, and an unknown key is asked for only now and then", n)
	}
	p.publish(t, second)
	if got := bring(g, second.token(t, aud)); got != "token_wrong" {
		t.Errorf("a new key within the pause: %s", got)
	}
	later(g, keysBetween)
	if got := bring(g, second.token(t, aud)); got != "ada viewer" {
		t.Errorf("a new key: %s", got)
	}
	if got := bring(g, first.token(t, aud)); got != "token_wrong" {
		t.Errorf("a key that was taken back: %s", got)
	}
	if n := p.asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// A later fault of the publisher does no harm to tokens whose keys are known.
//
//evidence:for limit-keys limit-key-time
func TestB04_KeysSurviveAnOutage(t *testing.T) {
	t.Parallel()
	s, stranger := signer{"one", jose.EdDSA, newEdKey(t)}, signer{"two", jose.EdDSA, newEdKey(t)}
	p := newPublisher(t, s)
	g := newGuard(t, jwtMode(JWT{Issuer: p.URL + "/realm", Audience: []string{"tributary"}}))
	good := s.token(t, claims{"aud": "tributary", "iss": p.URL + "/realm"})
	if got := bring(g, good); got != "ada viewer" {
		t.Fatalf("by discovery: %s", got)
	}
	for name, does := range map[string]http.HandlerFunc{
		"error":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"not JSON": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"no keys":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[]}`) },
		"a secret": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"keys":[{"kty":"oct","k":"AAAA"}]}`) },
		"too many": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"keys":[{}`+strings.Repeat(",{}", maxKeys)+`]}`)
		},
		"very long": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", maxKeySet+1)) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/realm", http.StatusFound) },
		"cut off":   func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		p.answers(does)
		later(g, keysFresh)
		before := p.asked.Load()
		if got := bring(g, good); got != "ada viewer" {
			t.Errorf("%s: %s", name, got)
		}
		if p.asked.Load() == before {
			t.Errorf("%s: the keys were not asked for", name)
		}
		if got := bring(g, stranger.token(t, claims{"aud": "tributary", "iss": p.URL + "/realm"})); got != "token_wrong" {
			t.Errorf("%s: a stranger: %s", name, got)
		}
	}
	p.publish(t, stranger)
	later(g, keysFresh)
	if got := bring(g, good); got != "token_wrong" {
		t.Errorf("a key that was taken back: %s", got)
	}
}

func TestB05_NoKeysYet(t *testing.T) {
	t.Parallel()
	s := signer{"one", jose.EdDSA, newEdKey(t)}
	p := newPublisher(t, s)
	p.answers(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	var log strings.Builder
	g := newGuard(t, func(c *Config) {
		jwtMode(JWT{Issuer: p.URL + "/realm", Audience: []string{"tributary"}})(c)
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	good := s.token(t, claims{"aud": "tributary", "iss": p.URL + "/realm"})
	w := ask(g, "GET /api/sessions", "Authorization: Bearer "+good)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "keys_unavailable") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if !strings.Contains(log.String(), "answers with status 500") || strings.Contains(log.String(), good) {
		t.Errorf("the log says %s", &log)
	}
	if got := bring(g, workToken); got != "ci collaborator" {
		t.Errorf("a token of ours: %s", got)
	}
	p.publish(t, s)
	later(g, keysBetween)
	if got := bring(g, good); got != "ada viewer" {
		t.Errorf("as soon as they are there: %s", got)
	}
}

// A key in the address of a key set goes to its server and not into the log.
func TestTheKeyOfAKeySetsAddressIsNotLogged(t *testing.T) {
	t.Parallel()
	s := signer{"one", jose.EdDSA, newEdKey(t)}
	p := newPublisher(t, s)
	for _, status := range []int{http.StatusInternalServerError, 0} {
		p.answers(func(w http.ResponseWriter, r *http.Request) {
			if status == 0 || r.URL.Query().Get("key") != "secret-key" {
				panic(http.ErrAbortHandler) // no answer
			}
			w.WriteHeader(status)
		})
		var log strings.Builder
		g := newGuard(t, func(c *Config) {
			jwtMode(JWT{JWKSURL: p.URL + "/keys?key=secret-key", Issuer: p.URL, Audience: []string{"tributary"}})(c)
			c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		ask(g, "GET /api/sessions", "Authorization: Bearer "+s.token(t, claims{"aud": "tributary", "iss": p.URL}))
		if !strings.Contains(log.String(), "/keys") || strings.Contains(log.String(), "secret-key") {
			t.Errorf("the log says %s", &log)
		}
	}
}

func TestDiscoveryThatLies(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"issuer":"https://evil.example","jwks_uri":"https://evil.example/k"}`: "calls itself",
		`{"issuer":"ISSUER","jwks_uri":"http://evil.example/k"}`:                "is not safe",
		`{"issuer":"ISSUER"}`: "is not a URL",
		`[]`:                  "is not JSON",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, strings.ReplaceAll(said, "ISSUER", "http://"+r.Host))
		}))
		r, err := newRemoteKeys("", server.URL, algorithms(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.fetch(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", said, err, want)
		}
		server.Close()
	}
}

// network answers in memory.
type network func(*http.Request) (*http.Response, error)

func (n network) RoundTrip(r *http.Request) (*http.Response, error) { return n(r) }

// A publisher that does not answer holds one caller for a few seconds, and nobody whose
// keys are known.
//
//evidence:for limit-key-time limit-keys
func TestSlowPublisher(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := signer{"one", jose.EdDSA, newEdKey(t)}
		r, err := newRemoteKeys("https://id.example/keys", "", algorithms(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		hangs, asked := true, 0
		r.client.Transport = network(func(req *http.Request) (*http.Response, error) {
			asked++
			if err := req.Context().Err(); err != nil {
				return nil, err
			}
			if hangs {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}
			w := httptest.NewRecorder()
			_ = json.NewEncoder(w).Encode(map[string]any{"keys": []json.RawMessage{s.jwk(t)}})
			return w.Result(), nil
		})
		from := time.Now()
		if _, err := r.find(t.Context(), "one", jose.EdDSA); err == nil || time.Since(from) != keysWithin {
			t.Errorf("error %v after %s", err, time.Since(from))
		}
		if _, err := r.find(t.Context(), "one", jose.EdDSA); err == nil || time.Since(from) != keysWithin {
			t.Errorf("error %v after %s: within the pause nobody waits", err, time.Since(from))
		}
		hangs = false
		time.Sleep(keysBetween)
		// Many at once ask once.
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if keys, err := r.find(t.Context(), "one", jose.EdDSA); err != nil || len(keys) != 1 {
					t.Errorf("%d keys, %v", len(keys), err)
				}
			})
		}
		all.Wait()
		if asked != 2 {
			t.Errorf("asked %d times", asked)
		}
		hangs = true
		time.Sleep(keysFresh + time.Second)
		from = time.Now()
		held := make(chan time.Duration, 2)
		for range 2 {
			go func() {
				keys, err := r.find(t.Context(), "one", jose.EdDSA)
				if err != nil || len(keys) != 1 {
					t.Errorf("%d keys, %v", len(keys), err)
				}
				held <- time.Since(from)
			}()
		}
		if first, second := <-held, <-held; first != 0 || second != keysWithin {
			t.Errorf("they waited %s and %s", first, second)
		}
		// A caller that leaves does not take the answer from the others.
		hangs = false
		time.Sleep(keysBetween)
		gone, leave := context.WithCancel(t.Context())
		leave()
		if keys, err := r.find(gone, "one", jose.EdDSA); err != nil || len(keys) != 1 || time.Since(r.at) > time.Second {
			t.Errorf("%d keys, %v, read at %s", len(keys), err, r.at)
		}
	})
}
