package permissiontest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// Dialect is how one agent names the tools and the keys of the attacks.
type Dialect map[Operation]Tool

// Tool is one tool of an agent. Keys maps path, second, pattern, glob, expression,
// content and command to the keys of the tool. An attack that uses a key which the
// tool does not have is left out.
type Tool struct {
	Name string
	Keys map[string]string
}

// Call is a call in the agent's own words.
type Call struct {
	Tool  string
	Input json.RawMessage
}

// Ask shows one call, asks for permission for a call under the same id, and
// reports whether the policy allowed it. Mostly the two calls are the same.
type Ask func(t *testing.T, shown, asked Call) (allowed bool)

// Workspace makes the directory that the attacks are about.
func Workspace(t testing.TB) workspace.Dir {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	ws := filepath.Join(top, "ws")
	for _, dir := range []string{"ws/sub/in", "ws/(group)", "ws/.github/workflows", "ws2", "outside"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o750))
	}
	for _, file := range []string{"ws/a.txt", "ws/a.txt~", "ws/sub/b.txt", "ws/sub/out", "ws/(group)/my file_1-2, é日本.txt", "ws2/secret", "outside/secret"} {
		must(t, os.WriteFile(filepath.Join(top, file), []byte("x"), 0o600))
	}
	for name, target := range map[string]string{"ws/in": "sub/b.txt", "ws/deep": "sub/in", "ws/out": "../outside/secret", "ws/outdir": "../outside"} {
		must(t, os.Symlink(target, filepath.Join(top, name)))
	}
	d, err := workspace.Open(ws)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// Policy allows more than the default: also to edit in the workspace. So the tests
// can distinguish an attack by an edit from a harmless edit.
func Policy() permission.Policy {
	p := permission.Default()
	p.Rules = append(p.Rules, permission.Rule{Kinds: []trace.ToolKind{trace.ToolEdit}, Inside: true, Then: permission.Allow})
	return p
}

// Judge returns the policy of the attacks, for trace.Config.
func Judge(d workspace.Dir, tools toolkind.Table) func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool) {
	return func(r trace.PermissionRequest, c trace.ToolCall) (trace.PermissionResponse, bool) {
		return Policy().Decide(r, c, permission.Scope{Contains: d.Contains, Tools: tools})
	}
}

// Play plays all attacks for which the agent has words.
func Play(t *testing.T, d workspace.Dir, dialect Dialect, ask Ask) {
	t.Helper()
	played := 0
	for _, a := range Attacks() {
		asked, ok := dialect.spell(a.Does, a.Input, d)
		if !ok {
			continue
		}
		shown := asked
		if a.Shown != "" {
			if shown, ok = dialect.spell(a.Shown, a.ShownInput, d); !ok {
				continue
			}
		}
		played++
		if got := ask(t, shown, asked); got != a.Allowed {
			t.Errorf("%s: the policy allows %s %s: %v", a.Name, asked.Tool, asked.Input, got)
		}
	}
	if played < len(Attacks())/3 {
		t.Errorf("only %d of %d attacks could be played: the dialect lacks keys", played, len(Attacks()))
	}
}

var placeholder = regexp.MustCompile(`<[a-z]+>`)

func (d Dialect) spell(o Operation, input string, ws workspace.Dir) (Call, bool) {
	tool, ok := d[o]
	if !ok {
		return Call{}, false
	}
	input = placeholder.ReplaceAllStringFunc(input, func(name string) string {
		key := tool.Keys[strings.Trim(name, "<>")]
		ok = ok && key != ""
		return key
	})
	input = strings.ReplaceAll(strings.ReplaceAll(input, "WS", ws.Path()), "TOP", filepath.Dir(ws.Path()))
	return Call{Tool: tool.Name, Input: json.RawMessage(input)}, ok
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
