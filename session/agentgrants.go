package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tributary-dev/tributary/policy/permission"
)

// This file keeps the grants that reach beyond their session. They are in the store, so that all
// gateways on it have the same ones, and a revoked grant covers no call that any of them judges later.

// grantWait bounds the wait for the store while a call is judged.
const grantWait = 5 * time.Second

// agentGrants reads the grants for an agent. A document that is no grant is left out.
func (h *Hub) agentGrants(ctx context.Context, agent string) (all []permission.Grant, err error) {
	docs, err := h.Log.Grants(ctx, agent)
	if err != nil {
		return nil, fmt.Errorf("read the grants for the agent %s: %w", agent, err)
	}
	for _, doc := range docs {
		var g permission.Grant
		if err := json.Unmarshal(doc, &g); err != nil {
			h.Logger.Error("a grant is damaged and counts no more: the next \"always\" makes a new one", "agent", agent, "error", err)
			continue
		}
		all = append(all, g)
	}
	return all, nil
}

// addGrant keeps a grant for all sessions with its agent.
func (h *Hub) addGrant(ctx context.Context, g permission.Grant) error {
	doc, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return h.Log.AddGrant(ctx, g.Agent, g.ID, doc, mostGrants)
}

// importGrants takes over the file in which earlier versions kept such grants, and removes the file.
func (h *Hub) importGrants(ctx context.Context) error {
	if h.StateDir == "" {
		return nil
	}
	path := filepath.Join(h.StateDir, "grants.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []permission.Grant
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return fmt.Errorf("the grants in %s cannot be read: correct the file, or remove it to revoke them all: %w", path, err)
	}
	for _, g := range all {
		if err := h.addGrant(ctx, g); err != nil {
			return fmt.Errorf("take over the grants in %s: %w", path, err)
		}
	}
	return os.Remove(path)
}
