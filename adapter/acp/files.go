package acp

import (
	"errors"
	"io/fs"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/policy/workspace"
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

// check refuses what is not offered or leads out of the workspace, so that nobody is
// asked about it.
func (p *protocol) check(a action) error {
	runs := a.method == methodTerminal
	switch {
	case runs && !on(p.settings.Terminals), !runs && !on(p.settings.Files):
		return jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client does not offer " + a.method}
	case runs && (a.Command == "" || a.Command[0] == '-'):
		return jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "terminal/create needs a command that is no option"}
	case runs:
		_, err := p.terminals.directory(a.Cwd)
		return err
	}
	if _, err := p.conn.Host().Files().Resolve(a.Path); errors.Is(err, workspace.ErrOutside) {
		return fileError(a.Path, err)
	}
	return nil
}

// contentOf is what a file holds, and whether that could be read as a whole. A file that is not
// there holds nothing.
func contentOf(files workspace.Dir, path string) (text string, whole bool) {
	data, cut, err := files.ReadFile(path)
	return string(data), (err == nil || errors.Is(err, fs.ErrNotExist)) && !cut
}

// do does what the agent has asked for and what was allowed.
func (p *protocol) do(a action) (any, error) {
	switch a.method {
	case methodTerminal:
		return p.terminals.create(a)
	case methodWrite:
		if err := p.conn.Host().Files().WriteFile(a.Path, []byte(a.Content)); err != nil {
			return nil, fileError(a.Path, err)
		}
		return object{}, nil
	}
	data, cut, err := p.conn.Host().Files().ReadLines(a.Path, max(a.Line, 1), max(a.Limit, 0))
	switch {
	case p.runtime.Preset.MissingIsEmpty && errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fileError(a.Path, err)
	case cut: // an agent that writes back what it has read would lose the rest
		return nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "What you want to read is longer than 1 MiB: read it in smaller parts, with line and limit."}
	}
	return object{"content": string(data)}, nil
}
