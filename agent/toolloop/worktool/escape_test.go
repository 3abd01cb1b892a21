package worktool_test

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/agent/toolloop/worktool"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/policy/workspace/workspacetest"
)

// TestEscapes plays every attempt to leave the workspace on the real tools, called as the
// loop calls them (L05, L06).
func TestEscapes(t *testing.T) {
	for _, reader := range []string{"read_file", "grep"} {
		for _, writer := range []string{"write_file", "edit_file"} {
			t.Run(reader+" "+writer, func(t *testing.T) {
				workspacetest.Run(t, func(t *testing.T, dir string) workspacetest.User {
					d, err := workspace.Open(dir)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = d.Close() })
					call := caller(t, worktool.Files(d))
					return workspacetest.User{
						Read: func(path string) (string, error) {
							text, err := call(reader, map[string]any{"path": path, "pattern": "."})
							if text == "[nothing matches]" {
								err = errors.New(text)
							}
							return text, err
						},
						Write: func(path, content string) error {
							if writer == "edit_file" {
								_, err := call(writer, map[string]any{"path": path, "old_text": "e", "new_text": content, "replace_all": true})
								return err
							}
							_, err := call(writer, map[string]any{"path": path, "content": content})
							return err
						},
						List: func(path string) ([]string, error) {
							text, err := call("list_dir", map[string]any{"path": path})
							return strings.Split(text, "\n"), err
						},
					}
				})
			})
		}
	}
}

// caller calls tools and returns their text.
func caller(t *testing.T, tools []toolloop.Tool) func(name string, input map[string]any) (string, error) {
	return func(name string, input map[string]any) (string, error) {
		raw, err := json.Marshal(input)
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(tools, func(tool toolloop.Tool) bool { return tool.Name == name })
		out, err := tools[i].Run(t.Context(), raw, io.Discard)
		var text string
		_ = json.Unmarshal(out, &text)
		return text, err
	}
}
