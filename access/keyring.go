package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
)

// cookieName is the name of the cookie of the page's sign-ins.
// Browsers keep one cookie of a name for all ports of a host, so that each gateway needs a
// name of its own. The first token gives it: a gateway has it for as long as its data
// directory.
func (k keyring) cookieName() string {
	const prefix = "tributary_page"
	if len(k) == 0 {
		return prefix
	}
	if k[0].file != nil {
		return prefix + "_" + k[0].file.held.cookie
	}
	return prefix + "_" + first{digest: k[0].digest}.ownCookie()
}

// credential is one way in: what a bearer token must hash to.
type credential struct {
	digest    [sha256.Size]byte
	file      *firstFile // if not nil, digest is what this file says
	principal Principal
}

// now is what a bearer token must hash to now.
func (c credential) now() [sha256.Size]byte {
	if c.file != nil {
		return c.file.digest()
	}
	return c.digest
}

// keyring is every credential of a gateway.
type keyring []credential

func (k *keyring) add(token string, p Principal) error {
	c := credential{digest: sha256.Sum256([]byte(token)), principal: p}
	for _, other := range *k {
		if other.principal.ID == p.ID {
			return fmt.Errorf("two tokens are named %q; give each a name of its own (%q is the minted one)", p.ID, operatorID)
		}
		if other.now() == c.digest {
			return fmt.Errorf("tokens %q and %q are the same; nobody could tell their holders apart", other.principal.ID, p.ID)
		}
	}
	*k = append(*k, c)
	return nil
}

// byDigest finds the principal of a token by its hash. byDigest always looks at all of
// them, so that its time does not tell which came close.
func (k keyring) byDigest(digest []byte) (Principal, bool) {
	at := -1
	for i, c := range k {
		now := c.now()
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(now[:], digest), i, at)
	}
	if at < 0 {
		return Principal{}, false
	}
	return k[at].principal, true
}

// bearer returns the token of the Authorization header, and whether there is
// such a header. Other schemes do not count: a proxy's Basic is no token. A page that
// opens a WebSocket can set no header, and offers the token as a subprotocol.
func bearer(r *http.Request) (string, bool) {
	values := r.Header.Values("Authorization")
	if len(values) > 1 {
		return "", true // which one counts is anybody's guess: none does
	}
	if len(values) == 0 {
		return bearerSubprotocol(r)
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "Bearer")
}
