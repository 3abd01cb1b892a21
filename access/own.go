package access

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
)

const (
	ownPrefix    = "/auth/"
	signInPath   = ownPrefix + "sign-in"
	callbackPath = ownPrefix + "callback"
	mePath       = ownPrefix + "me"
)

// Route is a route of the guard itself.
type Route struct {
	Pattern string
	// Need is the role that it needs; zero: everybody may use it.
	Need Role
}

// Routes lists the routes of the guard itself.
func Routes() []Route {
	return []Route{
		{"GET " + signInPath, 0},
		{"GET " + callbackPath, 0},
		{"GET " + mePath, 0},
		{"POST " + signInPath, Viewer},
		{"POST " + ownPrefix + "sign-out", Viewer},
		{"GET " + ownPrefix + "sign-ins", Viewer},
		{"DELETE " + ownPrefix + "sign-ins/{id}", Viewer},
	}
}

func (g *Guard) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for i, h := range []http.HandlerFunc{g.withOpenID(g.beginSignIn), g.withOpenID(g.finishSignIn), g.me, g.signInByToken, g.signOut, g.listSignIns, g.revokeSignIn} {
		mux.HandleFunc(Routes()[i].Pattern, g.needing(Routes()[i].Need, h))
	}
	mux.HandleFunc(ownPrefix, func(w http.ResponseWriter, r *http.Request) { g.refuseWith(w, r, unknownAddress()) })
	return mux
}

func (g *Guard) needing(need Role, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if p, _ := From(r.Context()); need != 0 && !p.Role.Allows(need) {
			g.refuseWith(w, r, roleMissing())
			return
		}
		h(w, r)
	}
}

// takes reports whether a request is for the guard itself.
func (g *Guard) takes(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, ownPrefix) }

// signsIn reports whether a request may come from somebody who is not signed in.
func (g *Guard) signsIn(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == signInPath || r.URL.Path == callbackPath || r.URL.Path == mePath)
}

type visitKey struct{}

// visit is what the guard knows of a request to itself.
type visit struct {
	arrival

	who sender
}

func visitOf(r *http.Request) visit {
	v, _ := r.Context().Value(visitKey{}).(visit)
	return v
}

func (g *Guard) withOpenID(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if g.openID == nil {
			g.refuseWith(w, r, noOpenID())
			return
		}
		h(w, r)
	}
}

// me tells who the caller is, and how they could sign in.
func (g *Guard) me(w http.ResponseWriter, r *http.Request) {
	var answer struct {
		User     *Principal `json:"user"`
		SignIn   string     `json:"sign_in,omitempty"`
		SignedIn bool       `json:"signed_in"` // by a cookie: they can sign out
	}
	v := visitOf(r)
	if p, ok := From(r.Context()); ok && !v.who.isPassThrough {
		answer.User = &p
	}
	if g.openID != nil {
		answer.SignIn = signInPath
	}
	answer.SignedIn = v.who.signIn != ""
	writeJSON(w, answer)
}

// signOut ends the sign-in by which the request came.
func (g *Guard) signOut(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	if v.who.signIn == "" {
		g.refuseWith(w, r, notSignedIn())
		return
	}
	if !g.end(w, r, v.who.signIn) {
		return
	}
	g.setCookie(w, v.arrival, "")
	w.WriteHeader(http.StatusNoContent)
}

// end ends a sign-in and reports whether it could, and answers if not.
func (g *Guard) end(w http.ResponseWriter, r *http.Request, id string) bool {
	switch err := g.signIns.drop(r.Context(), id); {
	case errors.Is(err, ErrUnknown):
		g.refuseWith(w, r, unknownSignIn())
		return false
	case err != nil:
		g.logger.Error("a sign-in cannot be ended", "error", err)
		g.refuseWith(w, r, storeAway())
		return false
	}
	return true
}

// listSignIns shows the caller's sign-ins, and an admin those of everybody.
func (g *Guard) listSignIns(w http.ResponseWriter, r *http.Request) {
	all, ok := g.visible(w, r)
	if ok {
		writeJSON(w, struct {
			SignIns []SignIn `json:"sign_ins"`
		}{all})
	}
}

func (g *Guard) revokeSignIn(w http.ResponseWriter, r *http.Request) {
	all, ok := g.visible(w, r)
	id := r.PathValue("id")
	switch {
	case !ok:
	case !slices.ContainsFunc(all, func(s SignIn) bool { return s.ID == id }):
		g.refuseWith(w, r, unknownSignIn())
	case g.end(w, r, id):
		w.WriteHeader(http.StatusNoContent)
	}
}

// visible lists the sign-ins that the caller may see and end.
func (g *Guard) visible(w http.ResponseWriter, r *http.Request) ([]SignIn, bool) {
	p, _ := From(r.Context())
	owner := p.ID
	if p.Role.Allows(Admin) {
		owner = ""
	}
	all, err := SignInsOf(r.Context(), g.signIns.Store, owner)
	if err != nil {
		g.logger.Error("the sign-ins cannot be listed", "error", err)
		g.refuseWith(w, r, storeAway())
		return nil, false
	}
	return all, true
}

func writeJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "This cannot be written as JSON.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n')) // the client has gone when this fails
}

func noOpenID() refusal {
	return refusal{http.StatusNotFound, "no_oidc", "Nobody signs in with a provider here: open the URL that was printed at start, or set auth.oidc."}
}

func notSignedIn() refusal {
	return refusal{http.StatusConflict, "not_signed_in", "This request came with a token, and not by a sign-in of the page: revoke the token instead."}
}

func notOurPage() refusal {
	return refusal{http.StatusConflict, "not_our_page", "Only the gateway's own page signs in with a token: send the token with each request instead."}
}

func roleMissing() refusal {
	return refusal{http.StatusForbidden, "forbidden", "You have no role in this gateway, so that you have no sign-ins here."}
}

func unknownSignIn() refusal {
	return refusal{http.StatusNotFound, "unknown_sign_in", "There is no such sign-in of yours."}
}

func unknownAddress() refusal {
	return refusal{http.StatusNotFound, "not_found", "There is no such address under /auth: see the documentation for the routes."}
}
