package cluster

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tributary-dev/tributary/access"
)

// This file tells the owner of a session who has sent a request.

// The headers between gateways. Those of a client with these names are dropped.
const (
	senderHeader  = "Tributary-Sender"
	sessionHeader = "Tributary-Session"
)

// sender is who sent a request, as the gateway found it out that they asked.
type sender struct {
	Principal *access.Principal `json:"principal,omitempty"`
	// Bound is the sessions that the sender's token is good for; nil: all.
	Bound *access.Bound `json:"bound,omitempty"`
	// PassThrough is a token that an agent's server judges.
	PassThrough string `json:"pass_through,omitempty"`
}

// senderOf writes the sender of a request that a guard has let through.
func senderOf(ctx context.Context) (string, error) {
	var s sender
	if p, is := access.From(ctx); is {
		s.Principal, s.Bound = &p, p.Bound
	}
	if t, is := access.PassThroughOf(ctx); is {
		s.PassThrough = t.Bearer()
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("write the sender of a request: %w", err)
	}
	return base64.StdEncoding.EncodeToString(text), nil
}

// withSender is a request with the sender that another gateway has named.
func withSender(r *http.Request) (*http.Request, error) {
	text, err := base64.StdEncoding.DecodeString(r.Header.Get(senderHeader))
	if err != nil {
		return nil, fmt.Errorf("read the sender of a request: %w", err)
	}
	var s sender
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read the sender of a request: %w", err)
	}
	ctx := context.WithValue(r.Context(), forwardedKey{}, true)
	if s.PassThrough != "" {
		ctx = access.WithPassThrough(ctx, access.NewPassThrough(s.PassThrough))
	}
	if s.Principal != nil {
		s.Principal.Bound = s.Bound
		ctx = access.With(ctx, *s.Principal)
	}
	r = r.WithContext(ctx)
	r.Header.Del(senderHeader)
	r.Header.Del(sessionHeader)
	return r, nil
}

type forwardedKey struct{}

// Forwarded reports whether another gateway has passed a request on.
func Forwarded(ctx context.Context) bool { return ctx.Value(forwardedKey{}) != nil }

// withoutCredentials is the headers of a request without what only the gateway that was asked may see or say. A runner's
// token is judged by the owner: keep keeps it.
func withoutCredentials(h http.Header, keep bool) http.Header {
	h = h.Clone()
	for name := range h {
		if strings.HasPrefix(name, "Tributary-") || name == "Cookie" || name == "Authorization" && !keep {
			h.Del(name)
		}
	}
	return h
}
