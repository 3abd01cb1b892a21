package gateway

import (
	"io"
	"net/http"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/chatbody"
	"github.com/tributary-dev/tributary/gateway/limit"
)

// This file counts the memory of requests.

// unjudged is the principal of all pass-through tokens that no server has judged yet,
// because anybody can make up many. No person can have this name.
const unjudged = "\x00unjudged"

// memory counts what a request has in memory. See [limit.Limiter.Memory] for gone.
func (g *gateway) memory(r *http.Request, c limit.Class, gone <-chan struct{}) *limit.Memory {
	p, _ := access.From(r.Context())
	if _, passThrough := access.PassThroughOf(r.Context()); passThrough && p.Role == 0 {
		p.ID = unjudged
	}
	return g.limiter.Memory(p.ID, c, g.Read, gone)
}

// promptCost is the number of copies of a chat's message until the message is on record: as
// a message, as JSON, and twice in the hands of the database.
const promptCost = 4

// read reads the body of a chat within the memory of large bodies. The chat counts until the
// caller calls done, which is when its message is on record or refused.
func (g *gateway) read(r *http.Request) (req chatbody.Request, done func(), err error) {
	m := g.memory(r, limit.Upload, nil)
	if req, err = chatbody.Read(r.Body, m.Reserve); err == nil {
		err = m.Reserve(promptCost * req.Weight())
	}
	if err != nil {
		m.Release()
	}
	return req, m.Release, err
}

// readFrame is read for a chat that comes in a frame of a WebSocket. It reads the frame to its
// end, also if the chat is refused.
func (g *gateway) readFrame(r *http.Request, in io.ReadCloser) (f chatbody.Frame, done func(), err error) {
	m := g.memory(r, limit.Upload, nil)
	if f, err = chatbody.ReadFrame(in, m.Reserve); err == nil {
		err = m.Reserve(promptCost * f.Weight())
	}
	if broken := in.Close(); broken != nil {
		err = broken
	}
	if err != nil {
		m.Release()
	}
	return f, m.Release, err
}
