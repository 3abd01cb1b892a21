package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/trace"
)

// This file decides requests by the policy and by grants, and keeps new grants.

// ErrUnknownGrant says that a session has no such grant, or no longer.
var ErrUnknownGrant = errors.New("there is no such grant in this session")

const (
	// mostGrants bounds the grants of a session, and those of an agent; the oldest go first.
	mostGrants = 200
	// grantWait bounds the wait for the store while a call is judged.
	grantWait = 5 * time.Second
)

// decide lets the policy decide a request that needs no person, and then the grants
// that a person gave earlier. It reads the file system, so it holds no lock.
func (t *turn) decide(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
	l := t.session
	name, a := l.agentNow()
	scope := l.scope(name, a)
	c = a.Tools.Judged(c)
	if answer, decided := a.Policy.Decide(r, c, scope); decided {
		return answer, true
	}
	if answer, ok := l.granted(name, a.Policy, r, c, scope); ok {
		return answer, true
	}
	prepared := a.Policy.Grant(c, scope)
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, twice := t.asking[c.ToolCallID]; twice && !reflect.DeepEqual(before, prepared) {
		prepared = permission.Grant{} // an answer could be for either input: it grants nothing beyond this call
	}
	t.asking[c.ToolCallID] = prepared
	return trace.PermissionResponse{}, false
}

// offer leaves out the options of a request that a person is not to have, by the grant that
// decide has prepared.
func (t *turn) offer(r trace.PermissionRequest) []trace.PermissionOption {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return permission.Offer(r.Options, t.asking[r.ToolCallID])
}

// scope is what the policy may look at.
func (l *activeSession) scope(name string, a Agent) permission.Scope {
	l.mu.Lock()
	files, ok, cwd := l.slot.files, l.slot.leave != nil, cmp.Or(l.slot.cwd, a.Cwd)
	l.mu.Unlock()
	s := permission.Scope{
		Tools: a.Tools, Script: &l.script, Boxed: l.hub.boxed[name].Form == box.Strict,
		Closed: func(path string) bool { return l.hub.dirs.Names(path, cwd) },
		Holds:  func(path string) bool { return l.hub.dirs.Holds(path, cwd) },
	}
	if ok {
		s.Contains, s.Resolve = files.Contains, files.Resolve
	}
	return s
}

// granted looks for a grant that covers a call.
func (l *activeSession) granted(agent string, p permission.Policy, r trace.PermissionRequest, c trace.ToolCall, s permission.Scope) (trace.PermissionResponse, bool) {
	ctx, cancel := context.WithTimeout(l.hub.ctx, grantWait)
	defer cancel()
	all, err := l.grants(ctx, agent)
	if err != nil { // a person is asked
		l.hub.Logger.Warn("the grants of the agent do not count for this call", "session", l.id, "error", err)
	}
	for _, g := range all {
		if !g.Covers(c, p, s, l.hub.Now()) {
			continue
		}
		answer, ok := g.Answer(r)
		if !ok || g.Scope == permission.GrantOnce && !l.revoke(g.ID) {
			continue
		}
		return answer, true
	}
	return trace.PermissionResponse{}, false
}

// grants are those of the session and those of its agent that have not expired. With an error
// they are those of the session.
func (l *activeSession) grants(ctx context.Context, agent string) ([]permission.Grant, error) {
	all := slices.Clone(l.document().Grants)
	more, err := l.hub.book.Of(ctx, agent)
	return slices.DeleteFunc(append(all, more...), func(g permission.Grant) bool { return g.Expired(l.hub.Now()) }), err
}

// remember keeps what a person has allowed for good. The agent gets the answer later. An agent
// that offers no "once" keeps the permission itself: a grant could not be revoked, so there is none.
func (t *turn) remember(r trace.Request) {
	q, asked := r.Asked.(trace.PermissionRequest)
	p, answered := r.Answer.(trace.PermissionResponse)
	if !asked || !answered {
		return
	}
	l := t.session
	if i := slices.IndexFunc(q.Options, func(o trace.PermissionOption) bool { return o.ID == p.ChosenOption }); i >= 0 && p.OptionKind == trace.AllowAlways && p.Outcome == trace.Selected && !permission.Once(q.Options) {
		t.builder.Emit(trace.Notice("kept_by_agent", fmt.Sprintf("The agent itself keeps the permission %q, and may act without asking again. Take it back in the agent.", q.Options[i].Name)))
		return
	}
	name, a := l.agentNow()
	l.mu.Lock()
	g, ok := t.asking[q.ToolCallID]
	if g.Tool != "" { // else there are more requests for the call
		delete(t.asking, q.ToolCallID)
	}
	l.mu.Unlock()
	if !ok || g.Tool == "" || p.OptionKind != trace.AllowAlways || p.Outcome != trace.Selected || len(p.UpdatedInput) > 0 {
		return
	}
	g = a.Policy.Remember.Give(g, "grant_"+newID(l.hub.Now()), p.By, l.hub.Now())
	if g.Scope == permission.GrantAlways {
		g.Agent = name
		ctx, cancel := context.WithTimeout(l.hub.ctx, grantWait)
		defer cancel()
		if err := l.hub.book.Add(ctx, g); err != nil {
			t.logger.Error("the grant was not kept, so the next call is asked again", "grant", g.ID, "error", err)
		}
		return
	}
	l.mu.Lock()
	all := append(slices.Clone(l.info.Grants), g)
	l.info.Grants = all[max(0, len(all)-mostGrants):]
	l.mu.Unlock()
	l.hub.goes.Go(l.saveLater) // the log takes its time, and the person who answers waits
}

// revoke takes a grant of the session away and reports whether it was there.
func (l *activeSession) revoke(id string) bool {
	l.mu.Lock()
	left := slices.DeleteFunc(slices.Clone(l.info.Grants), func(g permission.Grant) bool { return g.ID == id })
	found := len(left) < len(l.info.Grants)
	l.info.Grants = left
	l.mu.Unlock()
	if found {
		l.hub.goes.Go(l.saveLater)
	}
	return found
}

// Grants lists what persons have allowed beforehand in a session, and for its agent.
// A grant for the agent may come from another session, whose words it does not show.
func (h *Hub) Grants(ctx context.Context, session string) ([]permission.Grant, error) {
	return use(ctx, h, session, func(l *activeSession) ([]permission.Grant, error) {
		name, _ := l.agentNow()
		all, err := l.grants(ctx, name)
		if err != nil {
			return nil, err
		}
		for i := range all {
			if all[i].Scope == permission.GrantAlways {
				all[i].Input, all[i].Title = nil, ""
			}
		}
		return all, nil
	})
}

// Revoke takes a grant away. Calls that it has allowed already run on.
func (h *Hub) Revoke(ctx context.Context, session, id string) error {
	return h.use(ctx, session, func(l *activeSession) error {
		name, _ := l.agentNow()
		if there, err := h.book.Remove(ctx, name, id); there || err != nil {
			return err
		}
		_, err := h.change(ctx, session, func(i *Info) error {
			left := slices.DeleteFunc(slices.Clone(i.Grants), func(g permission.Grant) bool { return g.ID == id })
			if len(left) == len(i.Grants) {
				return ErrUnknownGrant
			}
			i.Grants = left
			return nil
		})
		return err
	})
}
