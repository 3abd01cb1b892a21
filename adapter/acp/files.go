package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

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
	limit := 0
	if r.Limit != nil {
		limit = *r.Limit
	}
	data, cut, err := p.conn.Host().Files().ReadLines(r.Path, max(r.Line, 1), max(limit, 0)) //nolint:contextcheck // the workspace bounds itself
	switch {
	case p.runtime.Preset.MissingIsEmpty && errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fileError(r.Path, err)
	}
	if cut && limit == 0 {
		return nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The file is longer than 1 MiB: read it in parts, with line and limit."}
	}
	return map[string]string{"content": string(data)}, nil
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
