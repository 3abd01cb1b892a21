package tributary_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

// TestAnAgentInAModuleOfItsOwn builds and tests the example module as a stranger would, and
// runs a turn with its agent.
func TestAnAgentInAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	dir, run := stranger(t, "agent-module")
	if out := run("./program", "run", "--agent", "shout", "hello"); out != "HELLO!\n" {
		t.Errorf("it says %q", out)
	}
	// The policy knows from the module's own table which file its tool reads.
	write(t, filepath.Join(dir, "book.txt"), "call me Ishmael")
	if out := run("./program", "run", "--agent", "shout", "read book.txt"); !strings.Contains(out, "CALL ME ISHMAEL!") {
		t.Errorf("it may not read a file of the workspace: %q", out)
	}
	if out := run("./program", "run", "--agent", "shout", "read /etc/hostname"); !strings.Contains(out, "I MAY NOT READ THAT") {
		t.Errorf("it reads a file outside of the workspace: %q", out)
	}
	if out := run("./program", "agents"); !regexp.MustCompile(`\bshout\s+shout\s+1\.0\.0\s+(guard|off|-)\s+ready`).MatchString(out) {
		t.Errorf("it is not listed:\n%s", out)
	}
	write(t, filepath.Join(dir, "tributary.yaml"), "agents: {loud: {adapter: shout, options: {mark: '?'}}}")
	if out := run("./program", "run", "hello"); out != "HELLO?\n" {
		t.Errorf("with options it says %q", out)
	}
}

// TestAModelCallsToolsOfTheProgram builds and tests the example as a stranger would, and has
// a scripted model call its tools.
func TestAModelCallsToolsOfTheProgram(t *testing.T) {
	t.Parallel()
	dir, run := stranger(t, "in-process-agent")
	model := httptest.NewServer(scriptedmodel.New(scriptedmodel.Options{}))
	t.Cleanup(model.Close)
	conf := strings.Replace(text(t, "examples/in-process-agent/tributary.yaml"), "http://127.0.0.1:11434", model.URL, 1)
	write(t, filepath.Join(dir, "tributary.yaml"), conf)
	for prompt, want := range map[string]string{
		`[[script:call order_status {"order":"A-17"}]]`: "The order is packed.",
		`[[script:call order_status {"order":"B-1"}]]`:  `Error: there is no order "B-1"`,
		`[[script:call order_status {"number":1}]]`:     `The input lacks "order"`,
		`[[script:call cancel_order {"order":"A-17"}]]`: "The call was denied and did not run: nobody is there to ask",
	} {
		if out := run("./program", "run", prompt); !strings.Contains(out, want) {
			t.Errorf("%s: it says %q, want %q", prompt, out, want)
		}
	}
}

// TestTheGatewayInAServerOfAnotherModule builds and tests the example as a stranger would.
func TestTheGatewayInAServerOfAnotherModule(t *testing.T) {
	t.Parallel()
	stranger(t, "in-your-server")
}

// knowAllModules has the go command fetch the go.mod files of all modules, where the machine
// lacks some. This module needs only a part of them; a module that requires it reads more.
func knowAllModules(t *testing.T) {
	t.Helper()
	modules.Do(func() {
		if out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "all").CombinedOutput(); err != nil {
			t.Fatalf("go list -m all: %v\n%s", err, out)
		}
	})
}

var modules sync.Once //nolint:gochecknoglobals // once for each machine

// stranger makes a copy of an example module outside of the repository, tests it and builds
// its program. That its go.mod is enough is asked without a build: a package of a module that
// another one replaces is compiled once more, for it has another path in the program. So the
// build has a workspace, in which the packages of this repository are those that all tests use. It
// leaves out the tables of debuggers, with which linking takes nearly twice as long.
func stranger(t *testing.T, example string) (dir string, run func(name string, args ...string) string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the whole program")
	}
	knowAllModules(t)
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("examples", example))); err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "go.mod"), strings.ReplaceAll(text(t, filepath.Join("examples", example, "go.mod")), "=> ../..", "=> "+root))
	write(t, filepath.Join(dir, "go.sum"), text(t, "go.sum"))
	env := append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
	run = func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("go", "list", "-deps", "-test", "./...")
	version := regexp.MustCompile(`(?m)^go .*$`).FindString(text(t, "go.mod"))
	write(t, filepath.Join(dir, "go.work"), version+"\nuse (\n\t.\n\t"+strconv.Quote(root)+"\n)\n")
	env = append(env, "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath -buildvcs=false", // the flags of other builds, so that no package is compiled twice
		"GOWORK="+filepath.Join(dir, "go.work"))
	run("go", "test", "-vet=off", "./...")
	run("go", "build", "-o", "program", ".")
	return dir, run
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
