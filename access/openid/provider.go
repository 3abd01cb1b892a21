// Package openid asks an OpenID provider who somebody is: authorization code with PKCE, a
// state and a nonce.
package openid

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/tributary-dev/tributary/access"
)

// Config names a provider, and this gateway as its client.
type Config struct {
	// Issuer is the provider's URL, as its discovery document has it.
	Issuer string
	// ClientID and ClientSecret are what the provider knows the gateway by. A public
	// client has no secret.
	ClientID, ClientSecret string
	// Scopes are asked for beside openid; nil: profile and email.
	Scopes []string
	// UserInfo has the claims of the provider's user info added, for providers whose ID
	// tokens are short.
	UserInfo bool
}

const (
	// maxAnswer bounds an answer of the provider.
	maxAnswer = 1 << 20
	// waitForAnswer bounds one request to the provider.
	waitForAnswer = 10 * time.Second
	// askAgainAfter is how long a provider that has not answered is left alone.
	askAgainAfter = 5 * time.Second
)

// Provider implements access.Provider.
type Provider struct {
	Config

	client *http.Client

	// asking has room for the one that reads or writes what follows.
	asking chan struct{}
	found  *oidc.Provider // nil until the provider has answered once
	away   error          // why it did not answer
	asked  time.Time      // when that was
}

var _ access.Provider = (*Provider)(nil)

// New makes a provider. The gateway asks it when the first person signs in, so that a
// provider that is away does not keep the gateway from starting.
func New(c Config) (*Provider, error) {
	u, err := url.Parse(c.Issuer)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("the issuer %q is no URL; write https://host or https://host/path", c.Issuer)
	case u.Scheme == "http" && !access.Loopback(u.Hostname()):
		return nil, fmt.Errorf("the issuer %q is not safe; use https, or http on this machine", c.Issuer)
	case c.ClientID == "":
		return nil, errors.New("the client_id is missing; register this gateway with the provider and write the id it gives")
	}
	return &Provider{Config: c, asking: make(chan struct{}, 1), client: &http.Client{
		Timeout:   waitForAnswer,
		Transport: bounded{&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10}},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // to an address that nobody has named
		},
	}}, nil
}

// bounded bounds the answers of a provider.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, maxAnswer)
	}
	return res, err //nolint:wrapcheck // it is the transport's own
}

// discover reads what the provider tells about itself, once. A provider that does not
// answer is not asked again for a while, so that strangers do not stand in line for it. Others wait
// for the answer too, so the question goes on if the one who asks leaves.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p.found != nil {
		return p.found, nil
	}
	if p.away != nil && time.Since(p.asked) < askAgainAfter {
		return nil, p.away
	}
	// The library keeps the client of the context for the keys that it reads later.
	found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.client), p.Issuer)
	if err != nil {
		p.away, p.asked = fmt.Errorf("the OpenID provider %s does not answer as one: %w", p.Issuer, err), time.Now()
		return nil, p.away
	}
	p.found = found
	return found, nil
}

func (p *Provider) config(at *oidc.Provider, redirect string) *oauth2.Config {
	scopes := p.Scopes
	if scopes == nil {
		scopes = []string{"profile", "email"}
		var says struct {
			Scopes []string `json:"scopes_supported"`
		}
		if at.Claims(&says) == nil && slices.Contains(says.Scopes, oidc.ScopeOfflineAccess) { // for a refresh token
			scopes = append(scopes, oidc.ScopeOfflineAccess)
		}
	}
	if !slices.Contains(scopes, oidc.ScopeOpenID) {
		scopes = append([]string{oidc.ScopeOpenID}, scopes...)
	}
	return &oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret, Endpoint: at.Endpoint(), RedirectURL: redirect, Scopes: scopes}
}

// AuthURL implements access.Provider.
func (p *Provider) AuthURL(ctx context.Context, redirect string, s access.Secrets) (string, error) {
	at, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	return p.config(at, redirect).AuthCodeURL(s.State, oidc.Nonce(s.Nonce), oauth2.S256ChallengeOption(s.Verifier)), nil
}

// Redeem implements access.Provider.
func (p *Provider) Redeem(ctx context.Context, redirect, code string, s access.Secrets) (access.Told, error) {
	at, err := p.discover(ctx)
	if err != nil {
		return access.Told{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	config := p.config(at, redirect)
	tokens, err := config.Exchange(ctx, code, oauth2.VerifierOption(s.Verifier))
	if err != nil {
		return access.Told{}, fmt.Errorf("the provider refuses the code: %w", withoutBody(err))
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return access.Told{}, errors.New("the provider gives no ID token; is openid among its scopes")
	}
	id, err := p.verify(ctx, at, raw)
	switch {
	case err != nil:
		return access.Told{}, err
	case s.Nonce == "" || id.Nonce != s.Nonce:
		return access.Told{}, errors.New("the ID token is of another attempt to sign in: its nonce differs")
	}
	claims, err := p.claims(ctx, at, id, config.TokenSource(ctx, tokens))
	return access.Told{Claims: claims, Refresh: tokens.RefreshToken}, err
}

// Refresh implements access.Provider.
func (p *Provider) Refresh(ctx context.Context, refresh string) (access.Told, error) {
	at, err := p.discover(ctx)
	if err != nil {
		return access.Told{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := p.config(at, "").TokenSource(ctx, &oauth2.Token{RefreshToken: refresh}).Token()
	switch {
	case ends(err):
		return access.Told{}, fmt.Errorf("%w: the provider answers with %w", access.ErrSignInOver, withoutBody(err))
	case err != nil:
		return access.Told{}, fmt.Errorf("the provider does not refresh the sign-in: %w", withoutBody(err))
	}
	told := access.Told{Refresh: tokens.RefreshToken}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok { // a provider need not give one with a refresh
		return told, nil
	}
	id, err := p.verify(ctx, at, raw)
	if err == nil {
		told.Claims, err = p.claims(ctx, at, id, oauth2.StaticTokenSource(tokens))
	}
	return told, err
}

// ends reports whether a provider refuses a refresh token: its person has to sign in again, if they
// still can. Any other error is one of the gateway's settings or of the provider.
func ends(err error) bool {
	e, is := errors.AsType[*oauth2.RetrieveError](err)
	return is && slices.Contains([]string{"invalid_grant", "access_denied", "interaction_required", "login_required", "consent_required"}, e.ErrorCode)
}

// verify checks an ID token. The provider keeps the keys for the next one.
func (p *Provider) verify(ctx context.Context, at *oidc.Provider, raw string) (*oidc.IDToken, error) {
	id, err := at.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("the ID token does not hold: %w", err)
	}
	return id, nil
}

// claims are those of an ID token, and those of the user info if the configuration wants them.
func (p *Provider) claims(ctx context.Context, at *oidc.Provider, id *oidc.IDToken, tokens oauth2.TokenSource) (map[string]any, error) {
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return nil, fmt.Errorf("the claims of the ID token cannot be read: %w", err)
	}
	if !p.UserInfo {
		return claims, nil
	}
	info, err := at.UserInfo(ctx, tokens)
	if err != nil {
		return nil, fmt.Errorf("the user info cannot be read: %w", err)
	}
	if info.Subject != id.Subject {
		return nil, errors.New("the user info is about somebody else than the ID token")
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return nil, fmt.Errorf("the user info cannot be read: %w", err)
	}
	for name, value := range more {
		if _, there := claims[name]; !there {
			claims[name] = value
		}
	}
	return claims, nil
}

// withoutBody keeps what a provider answers, which may repeat the code, out of the log.
func withoutBody(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if e.ErrorCode != "" {
			return fmt.Errorf("status %d, %q", e.Response.StatusCode, e.ErrorCode)
		}
		return fmt.Errorf("status %d", e.Response.StatusCode)
	}
	return err
}
