package session

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session/agents"
	"github.com/tributary-dev/tributary/trace"
)

// This file lists the requests that wait for a person.

// WaitingRequest is a request without an answer, with all that a person needs to answer it.
type WaitingRequest struct {
	trace.Request
	// Info is the document of the session.
	Info      Info
	Turn      string
	MessageID string
	// Scopes say in a phrase how far each option of a permission request reaches.
	Scopes []string
	// TakesInput says that the answer may have another input for the call, and TakesReason
	// that the agent gets the reason of a refusal.
	TakesInput, TakesReason bool
}

// Waiting lists the requests that wait in the sessions of this gateway, the oldest first. The
// cost grows with the sessions that wait, and not with the others.
func (h *Hub) Waiting(c Selection) (all []WaitingRequest) {
	h.mu.Lock()
	sessions := slices.Collect(maps.Keys(h.waiting))
	h.mu.Unlock()
	for _, l := range sessions {
		if s := l.view(); c.has(s) {
			all = append(all, l.requests()...)
		}
	}
	return inOrder(all)
}

// WaitingIn is Waiting for one session.
func (h *Hub) WaitingIn(ctx context.Context, session string) ([]WaitingRequest, error) {
	return use(ctx, h, session, func(l *activeSession) ([]WaitingRequest, error) {
		return inOrder(l.requests()), nil
	})
}

// AsksPermission reports whether a session has a permission request of that id, as long as its turn
// is known; or, for an empty id, one that waits.
func (h *Hub) AsksPermission(ctx context.Context, session, request string) bool {
	is, err := use(ctx, h, session, func(l *activeSession) (bool, error) {
		if request == "" {
			return slices.ContainsFunc(l.requests(), func(w WaitingRequest) bool { return !w.Question() }), nil
		}
		_, r, err := l.requested(request)
		return !r.Question(), err
	})
	return is && err == nil
}

func inOrder(all []WaitingRequest) []WaitingRequest {
	slices.SortFunc(all, func(a, b WaitingRequest) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.Info.ID, b.Info.ID), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// requests are those of the session that wait.
func (l *activeSession) requests() (all []WaitingRequest) {
	name, a := l.agentNow()
	input, reason := agents.Takes(l.hub.Logger, a.Runtime)
	l.mu.Lock()
	defer l.mu.Unlock()
	info := l.info
	info.Agent = name
	for _, t := range l.turns {
		if t.state.Stopped() {
			continue
		}
		for _, r := range t.builder.Requests() {
			w := WaitingRequest{Request: r, Info: info, Turn: t.id, MessageID: t.messageID}
			if p, is := r.Asked.(trace.PermissionRequest); is {
				w.Scopes, w.TakesInput, w.TakesReason = t.scopes(p, a), input && p.ToolCallID != "", reason
			}
			all = append(all, w)
		}
	}
	return all
}

// scopes say how far the options of a request reach. The caller holds activeSession.mu.
func (t *turn) scopes(p trace.PermissionRequest, a Agent) []string {
	scopes := make([]string, len(p.Options))
	once := permission.Once(p.Options)
	for i, o := range p.Options {
		switch {
		case o.OptionKind != trace.AllowAlways && o.OptionKind != trace.RejectAlways:
			scopes[i] = permission.ThisCall
		case o.OptionKind == trace.RejectAlways, !once: // the gateway keeps no refusal
			scopes[i] = "as long as the agent remembers it"
		default:
			scopes[i] = a.Policy.Remember.Reach(t.asking[p.ToolCallID])
		}
	}
	return scopes
}

// waiting are the ids of the requests that wait, the oldest first. The caller holds l.mu.
func (l *activeSession) waiting() (ids []string) {
	var all []trace.Request
	for _, t := range l.turns {
		if !t.state.Stopped() {
			all = append(all, t.builder.Requests()...)
		}
	}
	slices.SortFunc(all, func(a, b trace.Request) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

// noteWaiting keeps the hub's list of the sessions that wait. The caller holds l.mu.
func (l *activeSession) noteWaiting() {
	waits := len(l.waiting()) > 0
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	if waits {
		l.hub.waiting[l] = struct{}{}
	} else {
		delete(l.hub.waiting, l)
	}
}
