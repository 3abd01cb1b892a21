package agentops

import (
	"cmp"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	frames "github.com/tributary-dev/tributary/export/agentops"
)

// mostUsers bounds the users of a session that frames name.
const mostUsers = 100

// Browsers learn which users look at a session. No log holds this: the presence of a user
// ends when the user leaves.

// enter counts a client, and returns who is present.
func (s *Server) enter(c *client) frames.Presence {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[c.id] = append(s.clients[c.id], c)
	return frames.Presence{Clients: len(s.clients[c.id]), Users: s.users(c.id)}
}

// announce tells every client of the session, and c too, that the user of c has come.
func (s *Server) announce(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.present = true
	s.tell(c.id, wire.UserJoined{Presence: s.presence(c)})
}

// leave tells the others that a user has left, unless the user has another connection.
func (s *Server) leave(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := slices.DeleteFunc(s.clients[c.id], func(other *client) bool { return other == c })
	if s.clients[c.id] = left; len(left) == 0 {
		delete(s.clients, c.id)
	}
	still := slices.ContainsFunc(left, func(other *client) bool { return other.User.ID == c.User.ID })
	if c.present && !still {
		s.tell(c.id, wire.UserLeft{Presence: s.presence(c)})
	}
}

// tell skips clients that have not read their frames: presence is no reason to cut a
// connection. The caller holds s.mu, as callers of the functions below do.
func (s *Server) tell(session string, f wire.Frame) {
	data, err := wire.Encode(f)
	if err != nil {
		return // a name can always be encoded
	}
	for _, c := range s.clients[session] {
		if c.present {
			c.queue.Offer(data)
		}
	}
}

func (s *Server) presence(c *client) wire.Presence {
	user := c.user()
	return wire.Presence{UserID: user.ID, UserDetails: &user, ConnectedUsers: s.users(c.id)}
}

// users are the users of a session, each once, in the order in which they came.
func (s *Server) users(session string) []wire.User {
	var all []wire.User
	for _, c := range s.clients[session] {
		if u := c.user(); len(all) < mostUsers && !slices.ContainsFunc(all, func(other wire.User) bool { return other.ID == u.ID }) {
			all = append(all, u)
		}
	}
	return all
}

func (c *client) user() wire.User {
	return wire.User{ID: c.User.ID, Name: cmp.Or(c.User.Name, c.User.ID)}
}
