package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/workspace"
)

// codeMissing is the protocol's code for a file that is not there. Agents that are
// about to make the file look for the code or for the words.
const codeMissing = -32002

func fileError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return jsonrpc.Error{Code: codeMissing, Message: "Resource not found: " + path}
	case errors.Is(err, workspace.ErrOutside):
		return jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: sentence(err.Error())}
	}
	return err
}

// read answers fs/read_text_file.
func (p *protocol) read(_ context.Context, params json.RawMessage) (any, error) {
	var r struct {
		Path  string `json:"path"`
		Line  int    `json:"line"`
		Limit *int   `json:"limit"`
	}
	if err := json.Unmarshal(params, &r); err != nil {
		return nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	data, cut, err := p.conn.Host().Files().ReadFile(r.Path)
	if err != nil {
		return nil, fileError(r.Path, err)
	}
	if cut && r.Limit == nil {
		return nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The file is longer than 1 MiB: read it in parts, with line and limit."}
	}
	return map[string]string{"content": lines(string(data), r.Line, r.Limit)}, nil
}

// lines cuts lines out of a text; the first one has the number 1.
func lines(text string, first int, limit *int) string {
	all := strings.SplitAfter(text, "\n")
	all = all[min(max(first-1, 0), len(all)):]
	if limit != nil {
		all = all[:min(max(*limit, 0), len(all))]
	}
	return strings.Join(all, "")
}

// act does what the agent has asked for and what was allowed.
func (p *protocol) act(method string, params json.RawMessage) (any, error) {
	switch {
	case method == methodTermCreate && on(p.settings.Terminals):
		return p.terminals.create(params)
	case method == methodWrite && on(p.settings.Files):
		var r actionRequest
		if err := json.Unmarshal(params, &r); err != nil {
			return nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
		}
		if err := p.conn.Host().Files().WriteFile(r.Path, []byte(r.Content)); err != nil {
			return nil, fileError(r.Path, err)
		}
		return struct{}{}, nil
	}
	return nil, jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client does not offer " + method}
}
