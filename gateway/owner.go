package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file passes requests on to the gateways that own their sessions, and takes those of others.

// toOwner passes a request on whose path names a session of another gateway. That one decides
// what the sender may do.
func (g *gateway) toOwner(pattern string, h handler) handler {
	once := slices.Contains(actsOnce(), pattern)
	return func(w http.ResponseWriter, r *http.Request) error {
		passed := &passedStream{node: g.Cluster, session: r.PathValue("id")}
		defer passed.left()
		done, err := g.Cluster.Forward(w, r, passed.session, passed.passing(r, once))
		switch {
		case passed.cut:
			return g.continueStream(w, r, passed)
		case done || err != nil:
			return err
		}
		return h(w, r)
	}
}

// chatToOwner is the stream of a chat that another gateway answers, or nil. What was read of the chat's body is passed on, and
// not the body, which may be large.
func (g *gateway) chatToOwner(r *http.Request, req chatbody.Request) (*stream, error) {
	if r.PathValue("id") != "" { // toOwner has passed it on, or not
		return nil, nil //nolint:nilnil // this gateway answers
	}
	passage, err := g.Cluster.Prepare(r, req.ID, req)
	if passage == nil || err != nil {
		return nil, err
	}
	return &stream{elsewhere: func(w http.ResponseWriter, r *http.Request, sent func()) error {
		cluster.WithKey(r) // this gateway may have to answer in the end
		to := r.Clone(r.Context())
		to.Method, to.URL.Path, to.URL.RawPath = http.MethodPost, "/api/chat", ""
		passed := &passedStream{node: g.Cluster, session: req.ID}
		defer passed.left()
		done, err := passage.Send(w, to, passed.passing(r, true), sent)
		switch {
		case passed.cut:
			return g.continueStream(w, r, passed)
		case done || err != nil:
			return err
		}
		return g.served(func(w http.ResponseWriter, r *http.Request) (s *stream, err error) { //nolint:contextcheck // it is that of the request
			defer func() { s.keeps(sent) }()
			return g.converseAgain(w, r, passage.Again)
		})(w, r)
	}}, nil
}

// passedChat is chat for a body that another gateway has read.
func (g *gateway) passedChat(w http.ResponseWriter, r *http.Request) (*stream, error) {
	m := g.memory(r, limit.Upload, nil)
	defer m.Release()
	if err := m.Reserve(promptCost * r.ContentLength); err != nil {
		return nil, err
	}
	return g.converseAgain(w, r, json.NewDecoder(r.Body).Decode)
}

// converseAgain is converse for a chat whose body was read before.
func (g *gateway) converseAgain(w http.ResponseWriter, r *http.Request, read func(into any) error) (*stream, error) {
	now := time.Now()
	opts, err := g.streamOptions(r)
	if err != nil {
		return nil, err
	}
	var req chatbody.Request
	if err := read(&req); err != nil {
		return nil, refusal.Malformed("The chat that another gateway has passed on cannot be read: %v.", err)
	}
	return g.converse(w, r, req, opts, now, now)
}

// nameStream gives a resume that names its session elsewhere the path of its route.
func nameStream(r *http.Request, id string) {
	r.URL.Path, r.URL.RawPath = "/api/chat/"+id+"/stream", "/api/chat/"+url.PathEscape(id)+"/stream"
	r.SetPathValue("id", id)
}
