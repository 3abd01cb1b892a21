// Package tributary_test holds what the module promises about itself: which
// package may import which, and how large a file may grow.
package tributary_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/tributary-dev/tributary"

// longestFile is how many lines a Go file may have that is no test.
const longestFile = 400

// room is a row of the table: what the packages that match may import. Arrows
// point down only, so a room names rooms that stand above it in this table.
type room struct {
	packages string
	ours     string // packages of this module
	others   string // modules that are not ours; the standard library is free
}

func rooms() []room {
	const (
		substrate = "policy/box policy/toolkind policy/workspace policy/permission internal/address internal/sse internal/jsonrpc internal/httpjson internal/procio internal/form agent/agentkit agent/remote agent/toolloop agent/toolloop/worktool agent/toolloop/mcptool"
	)
	return []room{
		{packages: "internal/quote"},
		{packages: "internal/migration"},
		{packages: "internal/size"},
		{packages: "internal/address"},

		// The contract knows nobody.
		{packages: "trace", ours: "internal/quote", others: "github.com/aymanbagabas/go-udiff"},
		{packages: "policy/box", others: "golang.org/x/sys"},
		{packages: "policy/egress"},
		{packages: "policy/workspace"},
		{packages: "policy/workspace/workspacetest"},
		{packages: "policy/workspace/spaces"},
		{packages: "web"},
		{packages: "access", ours: "internal/address", others: "github.com/go-jose/go-jose"},
		{packages: "access/openid", ours: "access", others: "github.com/coreos/go-oidc golang.org/x/oauth2"},
		{packages: "access/accessdb", ours: "access internal/migration", others: "github.com/jackc/pgx modernc.org/sqlite"},
		{packages: "internal/cli/certs"},
		{packages: "internal/cli/certs/certtest"},
		{packages: "internal/inflight"},
		{packages: "internal/sse"},
		{packages: "internal/jsonrpc"},
		{packages: "internal/httpjson", ours: "internal/address"},
		{packages: "internal/wsconn", ours: "internal/address", others: "github.com/coder/websocket"},
		{packages: "internal/procio", ours: "policy/box"},
		{packages: "internal/form", ours: "trace"},
		{packages: "internal/yamlfile", others: "github.com/goccy/go-yaml"},
		{packages: "policy/toolkind", ours: "trace"},
		{packages: "policy/permission", ours: "policy/toolkind trace"},
		{packages: "policy/permission/permissiontest", ours: "policy/permission policy/toolkind trace policy/workspace"},

		// The frames of a session agent, for both sides of it.
		{packages: "adapter/agentops/wire", ours: "trace"},

		// The stream of the AI SDK: it knows neither adapters nor the hub.
		{packages: "uistream", ours: "internal/quote trace"},

		// The seam, and the adapters below it: they know neither each other, nor
		// the log, the hub or the stream.
		{packages: "agent", ours: "internal/address policy/box policy/toolkind trace policy/workspace"},
		{packages: "internal/testkit/replay", ours: "agent trace internal/sse"},
		{packages: "agent/agenttest", ours: "agent internal/testkit/replay trace policy/workspace", others: "go.uber.org/goleak"},
		{packages: "agent/agentkit", ours: "agent trace internal/jsonrpc internal/procio policy/workspace"},
		{packages: "internal/langchain", ours: "agent/agentkit trace"},
		{packages: "agent/remote", ours: "agent agent/agentkit policy/box trace internal/address internal/httpjson internal/procio internal/sse internal/wsconn"},
		{packages: "agent/remote/remotetest", ours: "agent agent/agenttest trace"},
		{packages: "agent/toolloop", ours: "agent agent/agentkit trace policy/toolkind", others: "github.com/google/jsonschema-go"},
		{packages: "agent/toolloop/worktool", ours: "policy/box agent/toolloop trace policy/workspace internal/procio"},
		{packages: "agent/toolloop/mcptool", ours: "policy/box agent agent/toolloop internal/address internal/procio", others: "github.com/modelcontextprotocol/go-sdk"},
		{packages: "adapter/agentops", ours: "agent adapter/agentops/wire internal/size internal/wsconn trace " + substrate, others: "github.com/coder/websocket"},
		{packages: "adapter/agui", ours: "agent internal/langchain trace uistream " + substrate, others: "github.com/evanphx/json-patch"},
		{packages: "adapter/agentops/runner", ours: "agent adapter/agentops/wire trace " + substrate},
		{packages: "adapter/uiendpoint", ours: "agent trace uistream " + substrate}, // what it reads is what uistream writes
		{packages: "adapter/langgraph", ours: "agent internal/langchain trace " + substrate},
		{packages: "adapter/*", ours: "agent trace " + substrate},
		{packages: "internal/testkit/replay/replaytest", ours: "agent agent/agenttest internal/testkit/replay trace", others: "github.com/google/go-cmp"},

		// The log.
		{packages: "eventlog", ours: "trace"},
		{packages: "eventlog/logtest", ours: "eventlog trace", others: "github.com/google/go-cmp"},
		{packages: "eventlog/memlog", ours: "eventlog trace"},
		{packages: "internal/testkit/installed"},
		{packages: "internal/testkit/faultnet"},
		{packages: "internal/testkit/inmemory"},
		{packages: "internal/testkit/openfiles", others: "golang.org/x/sys"},
		{packages: "internal/testkit/pgtest", ours: "internal/testkit/installed"},
		{packages: "internal/testkit/pgtest/with", ours: "internal/testkit/pgtest"},
		{packages: "eventlog/sqllog", ours: "eventlog internal/migration trace", others: "github.com/jackc/pgx golang.org/x/sys modernc.org/sqlite"},

		// The outputs: they know neither adapters nor the hub.
		{packages: "export/agentops", ours: "adapter/agentops/wire trace"},
		{packages: "export/markdown", ours: "internal/quote trace"},
		{packages: "export/reader", ours: "trace"},
		{packages: "export/redact", ours: "export/reader trace"},
		{packages: "export/atif", ours: "export/reader export/redact internal/quote trace"},
		{packages: "export/otlp", ours: "export/reader export/redact trace", others: "go.opentelemetry.io/proto/otlp google.golang.org/protobuf"},
		{packages: "export/otlp/send", ours: "export/otlp internal/address internal/httpjson", others: "go.opentelemetry.io/proto/otlp google.golang.org/protobuf/encoding/protowire"},
		{packages: "export/live", ours: "eventlog export/otlp export/otlp/send export/reader internal/address trace"},
		{packages: "export/otlp/otlptest", others: "go.opentelemetry.io/proto/otlp google.golang.org/protobuf"},
		{packages: "export/exporttest", ours: "trace", others: "pgregory.net/rapid"},
		{packages: "export/*", ours: "trace"},

		// Judgement of sessions: it knows no agent and no gateway.
		{packages: "eval", ours: "export/reader internal/yamlfile policy/permission policy/toolkind trace"},
		{packages: "eval/compare", ours: "eval"},
		{packages: "eval/report", ours: "eval"},
		{packages: "eval/judge", ours: "eval internal/address internal/httpjson"},

		// The hub, and what is above it.
		{packages: "session/turnstate"},
		{packages: "session/lockorder"},
		{packages: "session/agents", ours: "agent policy/workspace session/lockorder"},
		{packages: "session/listing", ours: "policy/workspace", others: "github.com/go-git/go-git"},
		{packages: "session/thread", ours: "trace"},
		{packages: "session", ours: "policy/box policy/egress trace agent eventlog internal/procio internal/size policy/permission session/agents session/lockorder session/thread session/turnstate policy/toolkind policy/workspace policy/workspace/spaces session/listing internal/inflight"},
		{packages: "session/agentset", ours: "agent policy/box policy/egress policy/permission policy/toolkind policy/workspace policy/workspace/spaces session", others: "github.com/KimMachineGun/automemlimit"},
		{packages: "session/alone", ours: "eventlog eventlog/memlog policy/workspace/spaces session trace"},
		{packages: "eval/run", ours: "eval export/reader internal/procio policy/permission policy/workspace/spaces session session/alone trace"},
		{packages: "gateway/metrics", ours: "agent", others: "github.com/prometheus/client_golang"},
		{packages: "gateway/refusal"},
		{packages: "gateway/chatrun"},
		{packages: "gateway/limit", ours: "gateway/refusal", others: "golang.org/x/time/rate"},
		{packages: "gateway/chatbody", ours: "gateway/refusal session trace uistream"},
		{packages: "gateway/chatsocket", ours: "gateway/chatbody internal/wsconn"},
		{packages: "gateway/cluster", ours: "access eventlog gateway/refusal session internal/inflight"},
		{packages: "gateway/authz", ours: "access agent gateway/refusal session uistream"},
		{packages: "gateway/agentops", ours: "access agent agent/agentkit adapter/agentops/wire export/agentops gateway/refusal internal/wsconn session trace internal/inflight"},
		{packages: "gateway", ours: "policy/box access agent gateway/agentops eventlog gateway/authz gateway/chatbody gateway/chatrun gateway/chatsocket gateway/cluster gateway/limit gateway/refusal export/atif export/live export/markdown export/otlp export/redact internal/quote policy/workspace/spaces internal/wsconn gateway/metrics session trace uistream internal/inflight"},
		{packages: "config", ours: "policy/box access export/redact internal/yamlfile policy/permission policy/workspace/spaces session session/agentset policy/toolkind trace uistream"},
		{packages: "internal/cli/cmdline"},
		{packages: "internal/cli/manual", ours: "internal/cli/cmdline"},
		{packages: "internal/cli", ours: "*", others: "golang.org/x/sys"},
		{packages: ".", ours: "access agent eventlog eventlog/memlog eventlog/sqllog gateway gateway/limit internal/cli internal/inflight internal/procio session session/agentset uistream"}, // the library
		{packages: "cmd/tributary", ours: "."},

		{packages: "examples/tutorial", ours: "agent agent/agentkit trace"},
		{packages: "examples/tutorial/parrot"},

		// Packages that only tests and maintainers run.
		{packages: "internal/testkit/scriptedmodel"},
		{packages: "internal/testkit/scriptedmodel/modeltest", ours: "internal/testkit/scriptedmodel"},
		{packages: "test/scripted-model", ours: "internal/testkit/scriptedmodel"},
		{packages: "internal/testkit/realagent", ours: "internal/testkit/scriptedmodel internal/testkit/scriptedmodel/modeltest"},
		{packages: "internal/testkit/realagent/*", ours: "internal/testkit/realagent"},
		{packages: "test/record-claude", ours: "*"},
		{packages: "test/e2e", ours: "*", others: "golang.org/x/sys"},
		{packages: "test/e2e/agents"},
		{packages: "internal/testkit/launch"},
		{packages: "internal/testkit/openidtest", ours: "internal/testkit/installed internal/testkit/launch"},
		{packages: "test/endurance", ours: "internal/testkit/faultnet internal/testkit/launch internal/testkit/pgtest", others: "golang.org/x/sys"}, // it sees the gateway from outside
		{packages: "test/bench", ours: "*"},
		{packages: "test/stages"},
		{packages: "test/mutations"},
		{packages: "test/readers", ours: "export/atif export/exporttest export/otlp export/otlp/send export/redact trace"},
		{packages: "test/foreign", others: "golang.org/x/tools/go/packages"},
	}
}

// source is a Go file that is no test.
type source struct {
	name    string
	lines   int
	imports []string
	doc     bool
	pkg     string // its name
}

// sources parses all packages, whatever system their files are for.
func sources(t *testing.T) map[string][]source {
	t.Helper()
	all := map[string][]source{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"node_modules", "testdata", "tools", "examples"}, d.Name())):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		s, err := read(name)
		if err != nil {
			return err
		}
		all[path.Dir(name)] = append(all[path.Dir(name)], s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages were found", len(all))
	}
	return all
}

func read(name string) (source, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return source{}, err
	}
	f, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	s := source{name: name, lines: bytes.Count(data, []byte("\n")), pkg: f.Name.Name, doc: f.Doc != nil && f.Doc.Text() != "", imports: imports(f)}
	return s, nil
}

func imports(f *ast.File) []string {
	var all []string
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			all = append(all, p)
		}
	}
	return all
}

func TestArrowsPointDown(t *testing.T) {
	t.Parallel()
	for dir, files := range sources(t) {
		r, ok := roomOf(dir)
		if !ok {
			t.Errorf("package %s has no row in the table of this test: say what it may import", dir)
			continue
		}
		for _, f := range files {
			for _, i := range f.imports {
				if err := r.allows(i); err != nil {
					t.Errorf("%s: package %s %v", f.name, dir, err)
				}
			}
		}
	}
}

func roomOf(dir string) (room, bool) {
	for _, r := range rooms() {
		if ok, _ := path.Match(r.packages, dir); ok {
			return r, true
		}
	}
	return room{}, false
}

func (r room) allows(imported string) error {
	if own, ok := strings.CutPrefix(imported, module+"/"); ok || imported == module {
		if imported == module {
			own = "."
		}
		may := strings.Fields(r.ours)
		if slices.Contains(may, own) || slices.Contains(may, "*") {
			return nil
		}
		return fmt.Errorf("imports %s, and may import of ours only: %s", own, r.ours)
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") { // the standard library
		return nil
	}
	for m := range strings.FieldsSeq(r.others) {
		if imported == m || strings.HasPrefix(imported, m+"/") {
			return nil
		}
	}
	return fmt.Errorf("imports %s, and may import of others' only: %s", imported, r.others)
}

// TestTableIsDownward keeps the table itself honest: a row names only what
// stands above it.
func TestTableIsDownward(t *testing.T) {
	t.Parallel()
	var above []string
	for _, r := range rooms() {
		for own := range strings.FieldsSeq(r.ours) {
			if own != "*" && !slices.Contains(above, own) {
				t.Errorf("the row of %s allows %s, which does not stand above it", r.packages, own)
			}
		}
		above = append(above, r.packages)
	}
}

func TestTheTableCatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dir, imported string }{
		{"adapter/claude", module + "/uistream"},
		{"adapter/claude", module + "/adapter/demo"},
		{"adapter/claude", module + "/session"},
		{"uistream", module + "/session"},
		{"trace", module + "/agent"},
		{"trace", "github.com/google/go-cmp/cmp"},
		{"session", "github.com/jackc/pgx/v5"},
		{"gateway", module + "/eventlog/sqllog"},
	} {
		r, ok := roomOf(c.dir)
		if !ok || r.allows(c.imported) == nil {
			t.Errorf("%s may import %s", c.dir, c.imported)
		}
	}
}

func TestPackagesAndFiles(t *testing.T) {
	t.Parallel()
	drawers := []string{"util", "utils", "helper", "helpers", "manager", "base", "common", "misc", "shared", "lib"}
	for dir, files := range sources(t) {
		documented := false
		for _, f := range files {
			documented = documented || f.doc
			if f.lines > longestFile {
				t.Errorf("%s has %d lines: split it, %d are enough", f.name, f.lines, longestFile)
			}
			if slices.Contains(drawers, f.pkg) {
				t.Errorf("%s is in package %s: name it after what it holds", f.name, f.pkg)
			}
		}
		if slices.Contains(drawers, path.Base(dir)) {
			t.Errorf("%s is a drawer: name it after what it holds", dir)
		}
		if !documented {
			t.Errorf("package %s has no package comment: say what it is for in doc.go", dir)
		}
	}
}

// TestAdaptersGuardPrompts: an adapter makes what its agent gets of a prompt with agentkit.Blocks
// or agentkit.PromptText, and reads no parts of a prompt for that itself. The adapters that do not
// guard their prompts have a reason.
func TestAdaptersGuardPrompts(t *testing.T) {
	t.Parallel()
	free := map[string]string{
		"agui": "an application, which gets the prompt as it was written", "langgraph": "as agui", "uiendpoint": "as agui",
		"openai": "a model, which reads no files by itself", "demo": "no agent", "echo": "no agent", "agentops/wire": "no adapter",
	}
	for dir, files := range sources(t) {
		name, is := strings.CutPrefix(dir, "adapter/")
		if !is {
			continue
		}
		guards := false
		for _, f := range files {
			text, err := os.ReadFile(f.name)
			if err != nil {
				t.Fatal(err)
			}
			guards = guards || bytes.Contains(text, []byte("agentkit.Blocks(")) || bytes.Contains(text, []byte("agentkit.PromptText("))
			if free[name] == "" && bytes.Contains(text, []byte("agentkit.Attached(")) {
				t.Errorf("%s reads a file of a prompt itself: use agentkit.Blocks", f.name)
			}
			if free[name] == "" && bytes.Contains(text, []byte("AsWritten")) {
				t.Errorf("%s passes answers on as they were written: only an application gets them so", f.name)
			}
		}
		if guards == (free[name] != "") {
			t.Errorf("%s guards its prompts: %v; an adapter does that with agentkit.Blocks or agentkit.PromptText, or says here why not", dir, guards)
		}
	}
}
