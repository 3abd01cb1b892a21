package acp

import (
	"context"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
)

// Conversations implements agent.Lister. A process of its own tells them.
func (r Runtime) Conversations(ctx context.Context, cfg agent.Config) (all []agent.Conversation, err error) {
	r, s, err := r.checked(cfg)
	if err != nil {
		return nil, err
	}
	err = agentkit.Consult(ctx, cfg, r.spec(), jsonrpc.Options{}, func(ctx context.Context, rpc *jsonrpc.Conn) error {
		p := &peer{runtime: r, settings: s, rpc: rpc}
		all, err = p.list(ctx, cfg.Cwd)
		return p.explained(err)
	})
	return all, err
}

// maxPages bounds the pages of a list. Agents that ignore the filter list much that is
// left out here.
const maxPages = 50

// list lists the sessions of the directory.
func (p *peer) list(ctx context.Context, cwd string) (all []agent.Conversation, err error) {
	if err := p.initialize(ctx, object{}); err != nil {
		return nil, err
	}
	can := p.hello.Can
	if can.Session.List == nil || !can.Load && can.Session.Resume == nil {
		return nil, p.errorf("%w", agent.ErrNotListed)
	}
	params := object{"cwd": cwd}
	for range maxPages {
		var page struct {
			Sessions list[struct {
				ID      string `json:"sessionId"`
				Cwd     string `json:"cwd"`
				Title   text   `json:"title"`
				Updated string `json:"updatedAt"`
			}] `json:"sessions"`
			Next string `json:"nextCursor"`
		}
		if err := p.call(ctx, methodList, params, &page); err != nil {
			return nil, err
		}
		for _, s := range page.Sessions.all() {
			if s.ID == "" || !agent.SamePlace(s.Cwd, cwd) {
				continue
			}
			updated, _ := time.Parse(time.RFC3339, s.Updated) // zero if the agent does not tell
			all = append(all, agent.Conversation{Token: s.ID, Title: string(s.Title), Updated: updated})
		}
		if page.Next == "" || len(all) >= agent.MaxConversations {
			break
		}
		params["cursor"] = page.Next
	}
	return all, nil
}
