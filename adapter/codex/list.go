package codex

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
)

// pageSize is how many threads a page holds, and maxPages bounds the pages.
const (
	pageSize = 100
	maxPages = 50
)

// Conversations implements agent.Lister. A process of its own tells them.
func (r Runtime) Conversations(ctx context.Context, cfg agent.Config) (all []agent.Conversation, err error) {
	err = agentkit.Consult(ctx, cfg, r.spec(), jsonrpc.Options{Bare: true}, func(ctx context.Context, rpc *jsonrpc.Conn) error {
		if err := initialize(ctx, rpc); err != nil {
			return err
		}
		all, err = threads(ctx, rpc, cfg.Cwd)
		return err
	})
	return all, err
}

// threads lists the threads of the directory, of every provider and every program of
// Codex, but for those of sub-agents.
func threads(ctx context.Context, rpc *jsonrpc.Conn, cwd string) (all []agent.Conversation, err error) {
	params := object{
		"cwd": cwd, "limit": pageSize, "sortKey": "updated_at",
		"modelProviders": []string{}, "sourceKinds": []string{"cli", "vscode", "exec", "appServer"},
	}
	for range maxPages {
		var page struct {
			Data []struct {
				ID, Cwd, Name, Preview string
				UpdatedAt              int64
			}
			NextCursor string
		}
		if err := rpc.Call(ctx, "thread/list", params, &page); err != nil {
			return nil, fmt.Errorf("codex: it cannot list its conversations: %w", err)
		}
		for _, t := range page.Data {
			if t.ID == "" || !agent.SamePlace(t.Cwd, cwd) {
				continue
			}
			all = append(all, agent.Conversation{
				Token: agentkit.Bookmark{Conversation: t.ID}.Token(), Title: cmp.Or(t.Name, t.Preview), Updated: time.Unix(t.UpdatedAt, 0),
			})
		}
		if page.NextCursor == "" || len(all) >= agent.MaxConversations {
			break
		}
		params["cursor"] = page.NextCursor
	}
	return all, nil
}
