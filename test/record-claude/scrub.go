//go:build unix

package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
)

// notSlug matches what Claude Code replaces in the name of a folder to get the
// name under which it keeps the folder's sessions.
var notSlug = regexp.MustCompile(`[^a-zA-Z0-9]`)

// scrub replaces what only this machine has: the room's folders, in both
// spellings, the model's port, and where the agent is installed.
func (r *room) scrub(line []byte) []byte {
	slug := func(path string) string { return notSlug.ReplaceAllString(path, "-") }
	install := strings.TrimSuffix(r.claude, filepath.Join("node_modules", ".bin", filepath.Base(r.claude)))
	for _, pair := range [][2]string{
		{r.workspace(), "/workspace"},
		{slug(r.workspace()), "-workspace"},
		{r.home(), "/home/agent"},
		{slug(r.home()), "-home-agent"},
		{r.tmp(), "/tmp"},
		{slug(r.tmp()), "-tmp"},
		{r.base, "/room"},
		{strings.TrimPrefix(r.url, "http://"), "127.0.0.1:4010"},
		{filepath.Clean(install), "/opt/agents/claude-code"},
	} {
		line = bytes.ReplaceAll(line, []byte(pair[0]), []byte(pair[1]))
	}
	return line
}
