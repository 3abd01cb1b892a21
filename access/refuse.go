package access

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// refusal is why a request goes no further.
type refusal struct {
	status   int
	code     string
	sentence string
}

// RefuseJSON writes {"error": sentence, "code": code}, as the default of Config.Refuse.
func RefuseJSON(w http.ResponseWriter, _ *http.Request, status int, code, sentence string) {
	body, err := json.Marshal(struct {
		Error string `json:"error"`
		Code  string `json:"code"`
	}{sentence, code})
	if err != nil {
		http.Error(w, sentence, status)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n')) // the client has gone when this fails
}

func (g *Guard) refuseWith(w http.ResponseWriter, r *http.Request, no refusal) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	switch no.status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="tributary"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", strconv.Itoa(int(keysBetween.Seconds())))
	}
	g.refuse(w, r, no.status, no.code, no.sentence)
}

func hostRefused(host string) refusal {
	return refusal{
		http.StatusForbidden, "host_not_allowed",
		fmt.Sprintf("This gateway does not answer to the host %s; add it to allow_hosts if it is yours.", quote(host)),
	}
}

func originRefused(mode Mode, value string) refusal {
	remedy := "add it to allow_origins if it is yours"
	if mode == ModeNone { // which has no list: pages of every origin would be admins
		remedy = "start it with --auth token to let pages of yours in"
	}
	return refusal{
		http.StatusForbidden, "origin_not_allowed",
		fmt.Sprintf("Pages of origin %s may not use this gateway; %s.", quote(value), remedy),
	}
}

// quote shows what a stranger sent, cut and escaped.
func quote(s string) string {
	const most = 100
	if len(s) > most {
		s = s[:most]
	}
	return fmt.Sprintf("%+q", s)
}

func crossSite() refusal {
	return refusal{
		http.StatusForbidden, "cross_site",
		"This request was started by a page of another site and is refused.",
	}
}

func cookieElsewhere() refusal {
	return refusal{
		http.StatusForbidden, "cookie_cross_origin",
		"The cookie is good for this gateway's own pages only; send the header Authorization: Bearer with the token instead.",
	}
}

func tokenMissing(mode Mode) refusal {
	how := "A token is needed: open the URL that was printed at start, or send the header Authorization: Bearer with the token."
	if mode == ModeJWT { // its users have not seen that URL
		how = "A token is needed: sign in and send the header Authorization: Bearer with the token."
	}
	return refusal{http.StatusUnauthorized, "token_missing", how}
}

// tooManyWrong says how long to wait.
func tooManyWrong(w http.ResponseWriter, left time.Duration) refusal {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(left.Seconds()))))
	return refusal{
		http.StatusTooManyRequests, "too_many_wrong_tokens",
		"Too many wrong tokens came from your address: wait a moment, then send the right one.",
	}
}

func signInOver() refusal {
	return refusal{http.StatusUnauthorized, "sign_in_over", "You are not signed in any more: sign in again, or open the URL that was printed at start."}
}

func pageSecretMissing() refusal {
	return refusal{
		http.StatusUnauthorized, "page_secret_missing",
		"The cookie alone is not enough: sign in again, or send the header " + pageHeader + " with the secret of the page.",
	}
}

func pageSecretWrong() refusal {
	return refusal{http.StatusUnauthorized, "page_secret_wrong", "The secret of the page is not the one of this sign-in: sign in again."}
}

func storeAway() refusal {
	return refusal{
		http.StatusServiceUnavailable, "store_unavailable",
		"The tokens and sign-ins cannot be read now: try again in a moment.",
	}
}

func tokenWrong() refusal {
	return refusal{
		http.StatusUnauthorized, "token_wrong",
		"The token is not valid here: open the URL that was printed at start, or check the header Authorization.",
	}
}

func jwtWrong(why string) refusal {
	return refusal{http.StatusUnauthorized, "token_wrong", "The token is not valid here, for " + why + ": get a new one."}
}

func tokenExpired() refusal {
	return refusal{http.StatusUnauthorized, "token_expired", "The token has expired: get a new one."}
}

func keysAway() refusal {
	return refusal{
		http.StatusServiceUnavailable, "keys_unavailable",
		"The keys by which tokens are checked cannot be read now: try again in a moment.",
	}
}
