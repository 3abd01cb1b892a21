package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file passes requests on to the gateways that own their sessions, and takes those of others.

// toOwner passes a request on whose path names a session of another gateway. That one decides
// what the sender may do.
func (g *gateway) toOwner(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if done, err := g.Cluster.Forward(w, r, r.PathValue("id")); done || err != nil {
			return err
		}
		return h(w, r)
	}
}

// chatToOwner passes a chat that was read on. Its body, which may be large, stays here.
func (g *gateway) chatToOwner(w http.ResponseWriter, r *http.Request, req chatbody.Request) (done bool, err error) {
	if g.Cluster == nil || r.PathValue("id") != "" { // the path has named the owner
		return false, nil
	}
	to := r.Clone(r.Context())
	to.Method, to.URL.Path, to.URL.RawPath = http.MethodPost, "/api/chat", ""
	return g.Cluster.ForwardAs(w, to, req.ID, req)
}

// passedChat is chat for a body that another gateway has read.
func (g *gateway) passedChat(w http.ResponseWriter, r *http.Request) (*stream, error) {
	now := time.Now()
	opts, err := g.streamOptions(r)
	if err != nil {
		return nil, err
	}
	var req chatbody.Request
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, refusal.Malformed("The chat that another gateway has passed on cannot be read: %v.", err)
	}
	return g.converse(w, r, req, opts, now, now)
}

// nameStream gives a resume that names its session elsewhere the path of its route.
func nameStream(r *http.Request, id string) {
	r.URL.Path, r.URL.RawPath = "/api/chat/"+id+"/stream", "/api/chat/"+url.PathEscape(id)+"/stream"
	r.SetPathValue("id", id)
}
