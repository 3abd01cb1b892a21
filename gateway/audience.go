package gateway

import (
	"slices"
	"sync"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/agentops/browser"
)

// mostUsers bounds how many of those who look at a session are named.
const mostUsers = 100

// audience knows the users that read a session by WebSocket. Browsers learn of them,
// but no log holds them: their presence ends when they leave.
type audience struct {
	mu sync.Mutex
	of map[string][]*onlooker
}

// enter counts a user, and returns the users that are present.
func (a *audience) enter(o *onlooker) browser.Presence {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of[o.id] = append(a.of[o.id], o)
	return browser.Presence{Clients: len(a.of[o.id]), Users: a.users(o.id)}
}

// announce tells everybody, and himself, that somebody has come.
func (a *audience) announce(o *onlooker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	o.present = true
	a.tell(o, agentops.UserJoined{Presence: a.presence(o)})
}

// leave tells the others that a user has left, unless the user has another socket.
func (a *audience) leave(o *onlooker) {
	a.mu.Lock()
	defer a.mu.Unlock()
	rest := slices.DeleteFunc(a.of[o.id], func(other *onlooker) bool { return other == o })
	if a.of[o.id] = rest; len(rest) == 0 {
		delete(a.of, o.id)
	}
	still := slices.ContainsFunc(rest, func(other *onlooker) bool { return other.who.ID == o.who.ID })
	if o.present && !still {
		a.tell(o, agentops.UserLeft{Presence: a.presence(o)})
	}
}

// tell passes by those who have not read what they have: it is not worth cutting
// anybody for. The caller holds a.mu.
func (a *audience) tell(o *onlooker, f agentops.Frame) {
	data, err := agentops.Encode(f)
	if err != nil {
		return // names can always be written
	}
	for _, other := range a.of[o.id] {
		if other.present {
			other.socket.offer(data)
		}
	}
}

func (a *audience) presence(o *onlooker) agentops.Presence {
	return agentops.Presence{UserID: o.who.ID, UserDetails: &agentops.User{ID: o.who.ID, Name: o.name()}, ConnectedUsers: a.users(o.id)}
}

// users are those who look at a session, each once, in the order in which they came.
func (a *audience) users(session string) []agentops.User {
	var all []agentops.User
	seen := map[string]bool{}
	for _, o := range a.of[session] {
		if !seen[o.who.ID] && len(all) < mostUsers {
			seen[o.who.ID] = true
			all = append(all, agentops.User{ID: o.who.ID, Name: o.name()})
		}
	}
	return all
}

func (o *onlooker) name() string {
	if o.who.Name == "" {
		return o.who.ID
	}
	return o.who.Name
}
