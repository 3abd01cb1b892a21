package toolkind

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/trace"
)

// titleRunes bounds what a title quotes of an input.
const titleRunes = 60

func (r rule) title(fields map[string]json.RawMessage) string {
	about := ""
	for _, key := range r.about {
		if about = text(fields[key]); about != "" {
			break
		}
	}
	if about == "" {
		return r.verb
	}
	if r.form == file {
		about = path.Base(strings.ReplaceAll(about, `\`, "/"))
	}
	about = short(about)
	switch r.form {
	case code:
		return r.verb + " `" + about + "`"
	case quoted:
		return r.verb + " “" + about + "”"
	case pointed:
		return r.verb + ": " + about
	default:
		return r.verb + " " + about
	}
}

// text reads a string, or the words of a list, from a field.
func text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return strings.TrimSpace(s)
	}
	var words []string
	if json.Unmarshal(raw, &words) == nil {
		return strings.TrimSpace(strings.Join(words, " "))
	}
	return ""
}

// short returns the first line, cut to a bounded number of runes.
func short(s string) string {
	line, _, more := strings.Cut(s, "\n")
	line = strings.TrimSpace(line)
	if utf8.RuneCountInString(line) > titleRunes {
		return strings.TrimSpace(string([]rune(line)[:titleRunes])) + "…"
	}
	if more {
		return line + " …"
	}
	return line
}

// locations are the files that a call names, each once.
func locations(r Reach, line int) []trace.Location {
	var list []trace.Location
	for _, p := range r.Named {
		if p = strings.TrimSpace(p); p == "" || slices.ContainsFunc(list, func(l trace.Location) bool { return l.Path == p }) {
			continue
		}
		list = append(list, trace.Location{Path: p})
	}
	if len(list) == 1 {
		list[0].Line = line
	}
	return list
}

func line(fields map[string]json.RawMessage) int {
	for _, key := range []string{"offset", "line", "start_line"} {
		var n int
		if json.Unmarshal(fields[key], &n) == nil && n > 0 {
			return n
		}
	}
	return 0
}

// mcpParts splits the name that hosts of the Model Context Protocol give to a
// server's tool, mcp__server__tool.
func mcpParts(rawName string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(rawName, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}

// shownName is the name for people. The name of an MCP tool includes the server.
func shownName(rawName string) string {
	if server, tool, ok := mcpParts(rawName); ok {
		return server + ": " + tool
	}
	return rawName
}

// spoken is what a title says of a tool that no table knows.
func spoken(rawName string) string {
	if server, tool, ok := mcpParts(rawName); ok {
		return sentence(tool) + " (" + server + ")"
	}
	return rawName
}

// sentence turns create_issue into "Create issue".
func sentence(name string) string {
	words := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' }), " ")
	r, n := utf8.DecodeRuneInString(words)
	if n == 0 {
		return name
	}
	return strings.ToUpper(string(r)) + words[n:]
}
