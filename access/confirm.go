package access

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A sign-in by a provider is confirmed by the provider again and again, so that people whom the
// provider no longer knows are out soon. The request that comes first after a while asks; a
// sign-in that nobody uses costs nothing.
const (
	// confirmedFor is how long a sign-in counts after the provider has confirmed it. Without a
	// refresh token it ends then.
	confirmedFor = time.Hour
	// confirmAfter is the age of a confirmation at which a request asks for the next one. Other
	// requests go on meanwhile, so it is shorter than confirmedFor.
	confirmAfter = 50 * time.Minute
	// awayFor is how long a sign-in counts after its last confirmation while the provider does
	// not answer: an outage of an hour signs nobody out.
	awayFor = 2 * time.Hour
	// confirmBetween is the shortest time between two questions for one sign-in.
	confirmBetween = 30 * time.Second
	// maxRefresh is the longest refresh token, in bytes, that is kept.
	maxRefresh = 16 << 10
)

// ErrSignInOver says that the provider does not confirm a sign-in any more.
var ErrSignInOver = errors.New("the sign-in is over")

// confirmation is what a sign-in by a provider has beside its person.
type confirmation struct {
	// At is when the provider confirmed the sign-in last, and Asked when a gateway began to ask
	// again.
	At    time.Time `json:"at"`
	Asked time.Time `json:"asked,omitzero"`
	// Refresh is the refresh token, sealed with a key that the cookie of the sign-in gives. So
	// the store alone opens nothing at the provider.
	Refresh []byte `json:"refresh,omitempty"`
}

// confirm has the provider confirm a sign-in, if it is time. The refusal is signInOver if the
// provider does not.
func (g *Guard) confirm(ctx context.Context, cookie string) refusal {
	e, doc, err := g.entryOf(ctx, signInID(cookie))
	if err != nil || doc.By != byOIDC {
		return refusal{} // the caller looks for itself
	}
	last, now := e.Created, time.Now() // a sign-in of an older program has no confirmation
	var was confirmation
	if doc.Confirmed != nil {
		was = *doc.Confirmed
		last = was.At
	}
	switch age := now.Sub(last); {
	case age < confirmAfter, was.Refresh == nil && age < confirmedFor:
		return refusal{}
	case was.Refresh == nil, age >= awayFor, g.openID == nil:
		return g.over(ctx, e)
	case now.Sub(was.Asked) < confirmBetween:
		return refusal{}
	}
	refresh, err := openWith(keyOfCookie(cookie), was.Refresh)
	if err != nil {
		return g.over(ctx, e)
	}
	// One request of all gateways asks: many providers take a refresh token only once.
	doc.Confirmed = &confirmation{last, now, was.Refresh}
	if e, err = g.rewrite(ctx, e, doc); err != nil {
		return refusal{} // another one asks, or the store is away
	}
	// The new refresh token must be kept also if the client leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), redeemWithin)
	defer cancel()
	told, err := g.openID.Provider.Refresh(ctx, string(refresh))
	switch {
	case errors.Is(err, ErrSignInOver):
		g.logger.Info("the provider has ended a sign-in", "user", doc.User)
		return g.over(ctx, e)
	case err != nil:
		g.logger.Warn("the provider cannot be asked whether a sign-in goes on", "user", doc.User, "until", last.Add(awayFor), "error", err)
		return refusal{}
	}
	if told.Claims != nil {
		p, why := g.openID.Claims.principal(told.Claims, g.openID.taken)
		if why != "" || p.ID != doc.User || p.Role == 0 {
			g.logger.Info("a sign-in is over: the provider gives its person no role any more", "user", doc.User)
			return g.over(ctx, e)
		}
		doc.Name, doc.Role, doc.Groups = p.Name, p.Role, p.Groups
	}
	next := confirmation{At: now, Refresh: was.Refresh}
	if told.Refresh != "" {
		if next.Refresh, err = sealRefresh(cookie, told.Refresh); err != nil {
			return g.over(ctx, e)
		}
	}
	doc.Confirmed = &next
	if _, err := g.rewrite(ctx, e, doc); err != nil && !errors.Is(err, ErrUnknown) {
		g.logger.Error("a confirmed sign-in cannot be kept", "user", doc.User, "error", err)
	}
	return refusal{}
}

// over ends a sign-in.
func (g *Guard) over(ctx context.Context, e Entry) refusal {
	if err := g.signIns.drop(ctx, e.Name); err != nil && !errors.Is(err, ErrUnknown) {
		g.logger.Error("a sign-in that is over cannot be removed", "error", err)
	}
	return signInOver()
}

// entryOf finds a sign-in.
func (g *Guard) entryOf(ctx context.Context, id string) (e Entry, doc signInDoc, err error) {
	if e, err = g.signIns.find(ctx, id); err == nil {
		err = json.Unmarshal(e.Doc, &doc)
	}
	return e, doc, err
}

// rewrite gives a sign-in another document, unless another one has.
func (g *Guard) rewrite(ctx context.Context, e Entry, doc signInDoc) (Entry, error) {
	text, err := json.Marshal(doc)
	if err != nil {
		return e, err
	}
	was := e.Doc
	e.Doc = text
	if err := g.signIns.Update(ctx, kindSignIn, e, was); err != nil {
		return e, err
	}
	g.signIns.keep(e.ID, found{e, nil, time.Now()})
	return e, nil
}

// sealRefresh seals a refresh token for its sign-in; nil if there is none, or one that is too long.
func sealRefresh(cookie, refresh string) ([]byte, error) {
	if refresh == "" || len(refresh) > maxRefresh {
		return nil, nil
	}
	return sealWith(keyOfCookie(cookie), []byte(refresh))
}

// keyOfCookie is a key that only a request of the sign-in brings.
func keyOfCookie(cookie string) []byte {
	sum := sha256.Sum256([]byte("tributary refresh token 1 " + cookie))
	return slices.Clone(sum[:])
}

func sealWith(key, plain []byte) ([]byte, error) {
	sealer, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return sealer.Seal(nil, nil, plain, nil), nil //nolint:gosec // the sealer draws the nonce itself
}

func openWith(key, sealed []byte) ([]byte, error) {
	sealer, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return sealer.Open(nil, nil, sealed, nil)
}

func newSealer(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("the key of sign-ins cannot be used: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
