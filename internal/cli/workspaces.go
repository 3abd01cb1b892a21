package cli

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/tributary-dev/tributary/internal/httpjson"
)

type workspacesCommand struct {
	List   workspacesList   `cmd:"" default:"withargs" help:"List the workspaces that sessions have of their own, and what would be lost with each."`
	Remove workspacesRemove `cmd:"" help:"Remove workspaces that deleted sessions have left."`
}

type workspacesList struct {
	reach

	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists workspaces.
func (c *workspacesList) Run(ctx context.Context, p *program) error {
	var answer struct {
		Workspaces json.RawMessage `json:"workspaces"`
	}
	err := c.using(func(g remote) error {
		return g.plain(g.Do(ctx, httpjson.Call{Method: "GET", Path: "/api/workspaces", Out: &answer}))
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.stdout).Encode(answer.Workspaces)
	}
	var all []struct {
		Session, Agent, Form, Path, State, Holds string
		LeftOver                                 bool `json:"left_over"`
	}
	if err := json.Unmarshal(answer.Workspaces, &all); err != nil {
		return errOtherVersion
	}
	table := newTable(p.stdout, "SESSION", "AGENT", "FORM", "STATE", "PATH", "HOLDS")
	for _, w := range all {
		state := w.State
		if w.LeftOver {
			state += ", left over"
		}
		table.row(oneParagraph(w.Session), oneParagraph(w.Agent), oneParagraph(w.Form), oneParagraph(state), oneParagraph(w.Path), oneLine(w.Holds))
	}
	return table.Flush()
}

type workspacesRemove struct {
	reach

	Sessions []string `arg:"" placeholder:"SESSION" help:"The ids of the deleted sessions."`
	Discard  bool     `help:"Remove changes and commits too that are nowhere else."`
}

// Run removes workspaces, and stops at the first that is not removed.
func (c *workspacesRemove) Run(ctx context.Context, p *program) error {
	return c.using(func(g remote) error {
		for _, id := range c.Sessions {
			query := url.Values{}
			if c.Discard {
				query.Set("discard", "true")
			}
			if err := g.plain(g.Do(ctx, httpjson.Call{Method: "DELETE", Path: "/api/workspaces/" + url.PathEscape(id), Query: query})); err != nil {
				return err
			}
		}
		return nil
	})
}
