package manual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/cli/cmdline"
	"github.com/tributary-dev/tributary/internal/cli/manual"
	"github.com/tributary-dev/tributary/internal/testkit/installed"
)

// fleet is a command line of every kind: flags with and without values, commands below
// commands, arguments with and without choices, and characters that shells and troff read.
type fleet struct {
	Sail struct {
		Chart string `placeholder:"FILE" help:"The ship's chart: [soundings] at 1\\2 scale."`
		Log   string `placeholder:"DIR" help:".dotted and 'quoted' and \"doubly\"."`
		Wind  string `placeholder:"calm|gale" help:"How it blows."`
		Crew  string `placeholder:"NAME" help:"Who sails."`
		Fast  bool   `help:"Hoist everything."`
		Keel  bool   `hidden:"" help:"Not shown."`
		Port  string `arg:"" placeholder:"PORT" help:"Where to."`
	} `cmd:"" help:"Leave the harbour."`
	Crew struct {
		List struct {
			JSON bool `name:"json" help:"Print JSON."`
		} `cmd:"" help:"List the crew."`
		Pay struct {
			Coin string `arg:"" enum:"gold,silver" help:"In what."`
		} `cmd:"" help:"Pay the crew."`
	} `cmd:"" help:"People."`
}

func model() *cmdline.Command { return cmdline.New("fleet", "Ships, and what they need.", &fleet{}) }

func script(t *testing.T, shell string) string {
	t.Helper()
	text, err := manual.Completion(model(), shell)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// program finds a program of a Debian package.
func program(t *testing.T, name, from string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	installed.Needed(t, err == nil, name+" is not installed: `apt-get install "+from+"` does it")
	return path
}

// shell runs a script in a shell, in a folder with the file sea.chart and the folder logs.
func shell(t *testing.T, name, text string, args ...string) []string {
	t.Helper()
	program(t, name, name)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sea.chart"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), name, append([]string{"-c", text, name}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	words := strings.Fields(string(out))
	slices.Sort(words)
	return words
}

func TestBashOffersWhatMayComeNext(t *testing.T) {
	t.Parallel()
	file := script(t, "bash")
	for line, want := range map[string]string{
		"fleet ":                     "--help crew sail",
		"fleet s":                    "sail",
		"fleet sail --":              "--chart --crew --fast --help --log --wind",
		"fleet sail --chart se":      "sea.chart",
		"fleet sail --log ":          "logs",
		"fleet sail --wind ":         "calm gale",
		"fleet sail --crew ":         "",
		"fleet sail --fast l":        "logs",
		"fleet crew ":                "--help list pay",
		"fleet crew list --":         "--help --json",
		"fleet crew pay ":            "--help gold silver",
		"fleet sail crew --":         "--chart --crew --fast --help --log --wind",
		"fleet sail --chart x --win": "--wind",
	} {
		got := shell(t, "bash", `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fleet; printf '%s\n' "${COMPREPLY[@]}"`, append([]string{file}, strings.Split(line, " ")...)...)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestFishOffersWhatMayComeNext(t *testing.T) {
	t.Parallel()
	file := script(t, "fish")
	for line, want := range map[string]string{
		"fleet ":                "crew sail",
		"fleet sail --":         "--chart --crew --fast --help --log --wind",
		"fleet sail --wind ":    "calm gale",
		"fleet sail --chart se": "sea.chart",
		"fleet crew ":           "list pay",
		"fleet crew pay ":       "gold silver",
	} {
		got := shell(t, "fish", `source $argv[2]; complete -C $argv[3] | string split -f 1 \t; true`, file, line)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestZshReadsItsScript(t *testing.T) {
	t.Parallel()
	file := script(t, "zsh")
	got := shell(t, "zsh", `autoload -Uz compinit && compinit -u -d dump && source "$1" && print $_comps[fleet] && whence -w _fleet_crew_pay && zsh -n "$1"`, file)
	if strings.Join(got, " ") != "_fleet _fleet_crew_pay: function" {
		t.Errorf("%q", got)
	}
}

func TestThePageNamesAllAndTroffHasNoComplaint(t *testing.T) {
	t.Parallel()
	page := manual.Page(model(), manual.Section{Title: "exit status", Items: [][2]string{{"0", "Success."}}})
	for _, want := range []string{
		".TH FLEET 1", `.SS "sail <port>`, `\fB\-\-chart\fR \fIFILE\fR`, `.B \-\-fast`, `1\e2 scale`, "\n\\&.dotted and 'quoted' and \\(dqdoubly", `.SS "crew pay <coin>`, "gold|silver", ".SH EXIT STATUS",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "keel") {
		t.Error("the page shows a hidden flag")
	}
	cmd := exec.CommandContext(t.Context(), program(t, "groff", "groff"), "-man", "-Tutf8", "-ww", "-z")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

func TestTheHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	const program = `Usage: fleet <command>

Ships, and what they need.

Flags:
  -h, --help    Show context-sensitive help.

Commands:
  sail <port> [flags]
    Leave the harbour.

  crew list [flags]
    List the crew.

  crew pay <coin>
    Pay the crew.

Run "fleet <command> --help" for more information on a command.
`
	const sail = `Usage: fleet sail <port> [flags]

Leave the harbour.

Arguments:
  <port>    Where to.

Flags:
  -h, --help              Show context-sensitive help.
      --chart=FILE        The ship's chart: [soundings] at 1\2 scale.
      --log=DIR           .dotted and 'quoted' and "doubly".
      --wind=calm|gale    How it blows.
      --crew=NAME         Who sails.
      --fast              Hoist everything.
`
	if got := manual.Help(model()); got != program {
		t.Errorf("the program:\n%s", got)
	}
	if got := manual.Help(model().Below[0]); got != sail {
		t.Errorf("a command:\n%s", got)
	}
	const word = "0123456789 "
	var long struct {
		Flag string `placeholder:"A-VALUE-WITH-A-VERY-LONG-NAME" help:"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789"`
	}
	const want = "\n      --flag=A-VALUE-WITH-A-VERY-LONG-NAME\n                0123456789 0123456789 0123456789 0123456789 0123456789\n                0123456789 0123456789 0123456789\n"
	if got := manual.Help(cmdline.New("p", strings.Repeat(word, 9), &long)); !strings.HasSuffix(got, want) || !strings.Contains(got, strings.TrimSpace(strings.Repeat(word, 7))+"\n0123456789 0123456789\n") {
		t.Errorf("long texts:\n%s", got)
	}
}

func TestAShellWithoutCompletionIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := manual.Completion(model(), "tcsh"); err == nil || !strings.Contains(err.Error(), "write bash, zsh or fish") {
		t.Error(err)
	}
}
