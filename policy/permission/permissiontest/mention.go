package permissiontest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// Kept is a mention that every agent gets as it was written: the file is in the workspace.
const Kept = "@sub/b.txt"

// Mentions are the forms in which a text may mention a file outside with @, so that some
// program reads the file. The path of each ends with "secret".
func Mentions(d workspace.Dir) []string {
	file := filepath.Dir(d.Path()) + "/outside/secret"
	var all []string
	for _, before := range []string{
		"", " ", "\t", "\n", "\r", "\v", "\f", "\u0085", "\u00a0", "\u1680", "\u2003", "\u2028", "\u2029", "\u202f", "\u3000", "\u200b", "\ufeff", "\u202e",
		"(", "[", "{", "<", "'", `"`, "`", "“", "«", ",", ":", ".", "-", "+", "%", "/", "=", "@", "é", "。", "see ", "x",
	} {
		all = append(all, before+"@"+file)
	}
	for _, form := range []string{
		`@"FILE"`, `@'FILE'`, "@`FILE`", "@<FILE>", "@(FILE)", "@[FILE]", "@{FILE}", "@[x](FILE)", "@[x](claude-ref:FILE)", "@file:FILE", "@file://FILE", "@mcp:FILE", "@mcp:file://FILE",
		"@//FILE", "@\u200bFILE", "@\u202eFILE", "@\u2060FILE", "@\\FILE", "@$X/../FILE", "@./../outside/secret", "@../outside/secret", "@~/secret", "@~root/secret", "@$HOME/secret", "@%2e%2e/outside/secret",
		"@outdir/secret", "@sub/../../outside/secret", "@deep/../outdir/secret", "@sub/../../secret.", "@a.txt/../../outside/secret",
		"@a.txt\u0085/../../outside/secret", "@a.txt\u00a0/../../outside/secret", "@a.txt\u200b/../../outside/secret", "@a.txt,/../../outside/secret", "@a.txt\x00/../../outside/secret",
		"\uff20FILE", "\ufe6bFILE", "@@FILE", "@FILE.", "@FILE,", "@FILE#L1-9", "@FILE:1", "x@../outside/secret", "x@y/../../outside/secret", `x@"FILE"`, `x@y\..\..\secret`, "x@@FILE", "@a.txt@FILE",
	} {
		all = append(all, strings.ReplaceAll(form, "FILE", file))
	}
	return all
}

// MentioningParts are the parts of a prompt that mention a file outside in each field, in all
// forms, and across parts. The prompt is one that the gateway would refuse, in part; an agent's
// adapter guards the agent nevertheless. The prompt mentions a file in the workspace first.
func MentioningParts(d workspace.Dir) []trace.InputPart {
	parts := []trace.InputPart{{Type: trace.InputText, Text: "see " + Kept + " first"}}
	file := func(address, media, name string) {
		parts = append(parts, trace.InputPart{Type: trace.InputFile, URL: address, MediaType: media, Filename: name})
	}
	data := func(media, text string) string {
		return "data:" + media + "," + base64.StdEncoding.EncodeToString([]byte(text))
	}
	for _, m := range Mentions(d) {
		parts = append(parts, trace.InputPart{Type: trace.InputText, Text: m})
		for _, web := range []string{"https://e.example/", "https://e.example/a.png ", "https://u:p", "https://e.example/?q=", "https://e.example/#"} {
			file(web+m, "image/png", "a")
			file(web+m, "text/plain", "a")
		}
		for _, address := range []string{"https://e.example/a", "x:y", "file:///x", "", m} {
			file(address, "text/plain"+m, "a")
			file(address, m, "a")
			file(address, "text/plain", m)
			file(address, "", m)
		}
		for _, media := range []string{"text/plain", "TEXT/Plain", "", "application/json", "application/yaml", "application/ld+json", "image/svg+xml", "application/x-unknown", "text/plain;charset=utf-16"} {
			file(data(media+";base64", m), "", m)
			file(data(media+";BASE64", m), "text/plain", "a")
			file(data(media+";base64", "\xff"+m), "text/plain", "a")
			file("data:"+media+","+url.PathEscape(m), "text/plain", "a")
		}
		for _, media := range []string{"text/plain" + m, "image/png" + m, m, "image/png;x=" + m, "text/plain;x=" + m} {
			file(data(media+";base64", "x"), "image/png", "a")
			file(data(media+";base64", "x"), "text/plain", "a")
		}
		if before, after, ok := strings.Cut(m, "@"); ok { // two parts make the mention together
			parts = append(parts, trace.InputPart{Type: trace.InputText, Text: before + "@"}, trace.InputPart{Type: trace.InputText, Text: after})
			file(data("text/plain;base64", before+"@"), "", "a")
			parts = append(parts, trace.InputPart{Type: trace.InputText, Text: after})
			file("x:y", "", before+"@")
			parts = append(parts, trace.InputPart{Type: trace.InputText, Text: after + " @sub"}, trace.InputPart{Type: trace.InputText, Text: "/../../outside/secret"})
		}
	}
	return parts
}

// mention is an @, and a path to the file outside in the same word or between quotes.
var mention = regexp.MustCompile("[@\uFF20\uFE6B](?:[^ \\t\\r\\n]*|[\"'`<(\\[{][^\\n]*)secret")

// CheckSent reports each mention of a file outside in what an agent was sent: JSON values, or
// plain text. Strings that hold a data URL or base64 are read, too, but no pictures.
func CheckSent(t testing.TB, sent []byte) {
	t.Helper()
	var words []string // of the blocks, which an agent may join
	decoder := json.NewDecoder(bytes.NewReader(sent))
	for {
		var v any
		if decoder.Decode(&v) != nil {
			break
		}
		words = append(words, collect(v, "", false)...)
	}
	if len(words) == 0 {
		words = []string{string(sent)}
	}
	shown := 0
	for _, w := range append(words, strings.Join(words, "")) {
		if at := mention.FindStringIndex(w); at != nil && shown < 10 {
			shown++
			t.Errorf("the agent is sent %.200q", w[max(0, at[0]-40):])
		}
	}
	if !strings.Contains(strings.Join(words, " "), Kept) {
		t.Errorf("the mention %s of a file inside is lost in %.300q", Kept, sent)
	}
}

// collect returns the strings of a value, and what they encode.
func collect(v any, key string, picture bool) (all []string) {
	switch v := v.(type) {
	case string:
		if picture {
			return nil
		}
		all = append(all, v)
		if head, data, ok := strings.Cut(v, ","); ok && strings.HasPrefix(head, "data:") && !strings.HasPrefix(head, "data:image/png") {
			text, _ := url.PathUnescape(data)
			all = append(all, text, decoded(data))
		}
		if key == "blob" || key == "data" {
			all = append(all, decoded(v))
		}
	case []any:
		for _, e := range v {
			all = append(all, collect(e, key, false)...)
		}
	case map[string]any:
		for k, e := range v {
			picture := k == "data" && (v["type"] == "image" || v["media_type"] == "image/png")
			all = append(all, collect(e, k, picture)...)
		}
	}
	return all
}

// decoded reads base64 as tolerant programs do.
func decoded(s string) string {
	s = strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(s)
	data, _ := base64.RawStdEncoding.DecodeString(s)
	return string(data)
}
