package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/tributary-dev/tributary/internal/address"
)

const (
	// keysFresh is the time for which a set of keys is used before the next fetch.
	keysFresh = 10 * time.Minute
	// keysBetween is the least time between two questions for it, whatever key ids
	// strangers make up.
	keysBetween = 10 * time.Second
	// keysWithin bounds one question, discovery included.
	keysWithin = 5 * time.Second
)

// remoteKeys are published keys. The request whose token needs the keys fetches them: there
// is no goroutine. While the publisher cannot be reached, the last good set stays.
type remoteKeys struct {
	url, issuer string // one of the two
	algs        []jose.SignatureAlgorithm
	client      *http.Client
	logger      *slog.Logger

	mu    sync.Mutex
	good  []key
	at    time.Time     // when good was read
	tried time.Time     // when it was last asked for
	under chan struct{} // closed when the question that is under way has its answer
}

func newRemoteKeys(set, issuer string, algs []jose.SignatureAlgorithm, logger *slog.Logger) (*remoteKeys, error) {
	for name, address := range map[string]string{"jwks_url": set, "issuer": issuer} {
		if err := checkURL(address); address != "" && err != nil {
			return nil, fmt.Errorf("jwt %s %w", name, err)
		}
	}
	return &remoteKeys{url: set, issuer: issuer, algs: algs, logger: logger, client: &http.Client{
		// One request in minutes needs no connection that stays.
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // to where nobody has named
		},
	}}, nil
}

// checkURL returns why keys may not be read from an address, or nil. Without TLS, anybody on
// the way could replace them.
func checkURL(at string) error {
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("%s is not a URL; write https://host/path", quote(address.Public(at)))
	}
	host, ok := parseAuthority(u.Host)
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && ok && host.loopback():
		return nil
	}
	return fmt.Errorf("%s is not safe; use https, or http on this machine", quote(address.Public(at)))
}

// find implements keySource.
func (r *remoteKeys) find(ctx context.Context, id string, alg jose.SignatureAlgorithm) ([]key, error) {
	keys, at := r.have()
	if time.Since(at) > keysFresh {
		r.refresh(ctx, len(keys) == 0)
		keys, _ = r.have()
	}
	found := matching(keys, id, alg)
	if len(found) == 0 && len(keys) > 0 { // a key that is newer than what we have
		r.refresh(ctx, true)
		keys, _ = r.have()
		found = matching(keys, id, alg)
	}
	if len(keys) == 0 {
		return nil, errors.New("there are no keys")
	}
	return found, nil
}

func (r *remoteKeys) have() ([]key, time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.good, r.at
}

// refresh fetches the keys, unless they were fetched just now. If a fetch runs already, a
// caller that needs the keys waits for it.
func (r *remoteKeys) refresh(ctx context.Context, needed bool) {
	r.mu.Lock()
	if under := r.under; under != nil {
		r.mu.Unlock()
		if needed {
			select {
			case <-under:
			case <-ctx.Done():
			}
		}
		return
	}
	if !r.tried.IsZero() && time.Since(r.tried) < keysBetween {
		r.mu.Unlock()
		return
	}
	r.tried, r.under = time.Now(), make(chan struct{})
	r.mu.Unlock()
	// Others wait for the answer too, so it comes also if this one leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keysWithin)
	defer cancel()
	keys, err := r.fetch(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.good, r.at = keys, time.Now()
	} else {
		r.logger.Warn("the keys of tokens cannot be read; those that are known stay", "error", err, "known", len(r.good))
	}
	close(r.under)
	r.under = nil
}

// fetch reads the set, where the issuer says it is if nobody else does.
func (r *remoteKeys) fetch(ctx context.Context) ([]key, error) {
	at := r.url
	if at == "" {
		var err error
		if at, err = r.discover(ctx); err != nil {
			return nil, err
		}
	}
	data, err := r.get(ctx, at)
	if err != nil {
		return nil, err
	}
	keys, err := readJWKSet(data, false)
	if err == nil && !usable(keys, r.algs) {
		err = errors.New("it holds no key for the algorithms that are allowed")
	}
	if err != nil {
		return nil, fmt.Errorf("the key set at %s cannot be used: %w", address.Public(at), err)
	}
	return keys, nil
}

// discover asks the issuer where its keys are (OpenID Connect Discovery 1.0).
func (r *remoteKeys) discover(ctx context.Context) (string, error) {
	data, err := r.get(ctx, strings.TrimSuffix(r.issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return "", err
	}
	var said struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	switch err := json.Unmarshal(data, &said); {
	case err != nil:
		return "", fmt.Errorf("what the issuer %s says of itself is not JSON", r.issuer)
	case said.Issuer != r.issuer:
		return "", fmt.Errorf("the issuer %s calls itself %s; configure it by that name", r.issuer, quote(said.Issuer))
	}
	if err := checkURL(said.Keys); err != nil {
		return "", fmt.Errorf("the jwks_uri of the issuer %s cannot be used: %w", r.issuer, err)
	}
	return said.Keys, nil
}

func (r *remoteKeys) get(ctx context.Context, at string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s for keys: it is no address", address.Public(at))
	}
	req.Header.Set("Accept", "application/json")
	res, err := r.client.Do(req)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err
		}
		return nil, fmt.Errorf("ask %s for keys: %w", address.Public(at), err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with status %d instead of its keys", address.Public(at), res.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, maxKeySet+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read what %s answers: %w", address.Public(at), err)
	case len(data) > maxKeySet:
		return nil, fmt.Errorf("%s answers with more than %d MB", address.Public(at), maxKeySet>>20)
	}
	return data, nil
}
