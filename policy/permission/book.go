package permission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// Book keeps the grants that reach beyond their session. They are in a store, so that all
// gateways on it have the same ones, and a revoked grant covers no call that any of them judges later.
type Book struct {
	Store interface {
		AddGrant(ctx context.Context, agent, id string, doc []byte, most int) error
		Grants(ctx context.Context, agent string) ([][]byte, error)
		RemoveGrant(ctx context.Context, agent, id string) (bool, error)
	}
	// Most bounds the grants of an agent; the oldest go first.
	Most   int
	Logger *slog.Logger
}

// Of reads the grants for an agent. A document that is no grant is left out.
func (b Book) Of(ctx context.Context, agent string) (all []Grant, err error) {
	docs, err := b.Store.Grants(ctx, agent)
	if err != nil {
		return nil, fmt.Errorf("read the grants for the agent %s: %w", agent, err)
	}
	for _, doc := range docs {
		var g Grant
		if err := json.Unmarshal(doc, &g); err != nil {
			b.Logger.Error("a grant is damaged and counts no more: the next \"always\" makes a new one", "agent", agent, "error", err)
			continue
		}
		all = append(all, g)
	}
	return all, nil
}

// Add keeps a grant for all sessions with its agent.
func (b Book) Add(ctx context.Context, g Grant) error {
	doc, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return b.Store.AddGrant(ctx, g.Agent, g.ID, doc, b.Most)
}

// Remove takes a grant for an agent away, and reports whether it was there.
func (b Book) Remove(ctx context.Context, agent, id string) (bool, error) {
	return b.Store.RemoveGrant(ctx, agent, id)
}

// Import takes over the file in a directory in which earlier versions kept such grants, and removes
// the file. The directory may be "".
func (b Book) Import(ctx context.Context, dir string) error {
	if dir == "" {
		return nil
	}
	path := filepath.Join(dir, "grants.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all []Grant
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return fmt.Errorf("the grants in %s cannot be read: correct the file, or remove it to revoke them all: %w", path, err)
	}
	for _, g := range all {
		if err := b.Add(ctx, g); err != nil {
			return fmt.Errorf("take over the grants in %s: %w", path, err)
		}
	}
	return os.Remove(path)
}
