package session

import (
	"context"
	"fmt"
	"maps"

	"github.com/tributary-dev/tributary/trace"
)

// This file has the members of a session, and changes of its document.

// Kind says what a session is for. The zero Kind is a conversation like any other.
type Kind string

// The kinds that nobody but the owner may enter.
const (
	Orchestrator Kind = "orchestrator"
	Workflow     Kind = "workflow"
)

// Personal reports whether nobody but the session's owner may enter it.
func (k Kind) Personal() bool { return k == Orchestrator || k == Workflow }

const (
	// maxMembers bounds the members of a session.
	maxMembers = 1000
	// maxMember is the longest name of one, in bytes.
	maxMember = 200
)

// ACL are the owner and the members of a session. Members maps them to their roles,
// in the words of the caller; the map is never changed, only replaced.
type ACL struct {
	Owner   string
	Kind    Kind
	Members map[string]string
	// Hosted says that others may be among them, of whom the agent's server knows.
	Hosted bool
}

// ACL are those who have to do with the session.
func (i Info) ACL() ACL { return ACL{i.CreatedBy, i.Kind, i.Members, i.Hosted} }

// SetMember gives somebody a role in a session; "" takes it away.
func (h *Hub) SetMember(ctx context.Context, session, who, role string) (Info, error) {
	if who == "" || len(who) > maxMember {
		return Info{}, &ChoiceError{fmt.Sprintf("a member needs a name of at most %d bytes", maxMember)}
	}
	return h.change(ctx, session, func(i *Info) error {
		if i.Kind.Personal() && role != "" {
			return &ChoiceError{fmt.Sprintf("a session of the kind %s is its owner's alone: it takes no members", i.Kind)}
		}
		if i.Hosted && role != "" {
			return &ChoiceError{"who takes part in this session is told by the server of its agent: invite them there"}
		}
		if who == i.CreatedBy {
			return &ChoiceError{"the owner of a session is not one of its members: nothing can be given to him, or taken away"}
		}
		members := map[string]string{}
		maps.Copy(members, i.Members)
		delete(members, who)
		if role != "" {
			if len(members) >= maxMembers {
				return &ChoiceError{fmt.Sprintf("a session has %d members at most: take one away first", maxMembers)}
			}
			members[who] = role
		}
		i.Members = members
		return nil
	})
}

// Change is what may become otherwise of a session; nil stays as it is.
type Change struct {
	Title *string
	// Chat is false where the session is not open to AI SDK clients by its own route.
	Chat *bool
	// Archived is as in Info.
	Archived *bool
	// Mode and Model are those of the agent, by the agent's own ids; "" is its default.
	Mode, Model *string
}

// Change changes a session.
func (h *Hub) Change(ctx context.Context, session string, c Change) (Info, error) {
	info, err := use(ctx, h, session, func(l *activeSession) (Info, error) { return Info{}, l.control(ctx, c) })
	if err != nil {
		return info, err
	}
	info, err = h.change(ctx, session, func(i *Info) error {
		if c.Title != nil {
			i.Title = title(*c.Title)
		}
		if c.Chat != nil {
			i.NoChat = !*c.Chat
		}
		if c.Archived != nil {
			i.Archived = *c.Archived
		}
		if c.Mode != nil {
			i.Mode = *c.Mode
		}
		if c.Model != nil {
			i.Model = *c.Model
		}
		return nil
	})
	if err == nil {
		h.chosen(session, c)
	}
	return info, err
}

// change writes a session's document again. Where it cannot be written nothing has changed, so
// do is called twice: for the document, and for the session when that is on record. A new title
// is on record, too: readers of the log hear of it.
func (h *Hub) change(ctx context.Context, session string, do func(*Info) error) (Info, error) {
	return writing(ctx, h, session, func(l *activeSession) (Info, error) { return l.change(ctx, do) })
}

func (l *activeSession) change(ctx context.Context, do func(*Info) error) (Info, error) {
	was := l.view().Info
	will := was
	if err := do(&will); err != nil {
		return Info{}, err
	}
	var notes []trace.Event
	if will.Title != was.Title && will.Title != "" {
		notes = l.noteOf(trace.User, retitled(will.Title))
	}
	ctx = context.WithoutCancel(ctx)
	err := l.keep(ctx, notes, func(i *Info) { _ = do(i) })
	if err == nil {
		err = l.flush(ctx) // a document that was written meanwhile may lack it
	}
	if err != nil {
		return Info{}, elsewhere(err)
	}
	return l.view().Info, nil
}
