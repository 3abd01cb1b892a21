package agent

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"
)

// Lister is implemented by a Runtime whose agent can list its own conversations.
type Lister interface {
	// Conversations lists the conversations of the workspace cfg.Cwd, in any order, and
	// stops after about MaxConversations. An error is one sentence; ErrNotListed says
	// that this agent has no list. Callers use ListConversations.
	Conversations(ctx context.Context, cfg Config) ([]Conversation, error)
}

// Conversation is a conversation that an agent keeps by itself.
type Conversation struct {
	// Token is a resume token for Config.Resume. Every later token of the same
	// conversation begins with Token.
	Token string
	Title string
	// Updated is the time of the last change, or zero if the agent does not tell.
	Updated time.Time
}

// MaxConversations bounds a list of conversations.
const MaxConversations = 1000

// listTime bounds the time in which an agent lists them.
const listTime = time.Minute

// ErrNotListed says that an agent does not list its conversations.
var ErrNotListed = errors.New("this agent does not list its conversations: begin a session without `resume`")

// ListConversations lists the conversations that an agent has in the workspace cfg.Cwd, the
// newest first.
func ListConversations(ctx context.Context, r Runtime, cfg Config) ([]Conversation, error) {
	l, ok := r.(Lister)
	if !ok {
		return nil, ErrNotListed
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	all, err := l.Conversations(ctx, cfg)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(c Conversation) bool { return c.Token == "" })
	slices.SortStableFunc(all, func(a, b Conversation) int { return b.Updated.Compare(a.Updated) })
	return all[:min(len(all), MaxConversations)], nil
}

// SamePlace reports whether two paths name one directory. An agent may name a workspace
// without the symbolic links of its path. An empty path is no place.
func SamePlace(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	return filepath.Clean(a) == filepath.Clean(b) || resolved(a) == resolved(b)
}

// resolved is a path without symbolic links, as far as the file system knows it.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
