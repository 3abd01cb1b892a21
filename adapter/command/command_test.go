package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/adapter/command"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/trace"
)

// TestMain lets the test binary stand in for a program that is cut: it runs a script.
func TestMain(m *testing.M) {
	agenttest.Fake("FAKE_COMMAND", func(script string) int {
		cmd := exec.Command("bash", "-c", script)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode()
	})
	goleak.VerifyTestMain(m)
}

func environ() []string { return []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"} }

func bash(script string, args ...string) command.Runtime {
	return command.Runtime{Command: "bash", Args: append([]string{"-c", script, "bash"}, args...), Env: environ()}
}

// TestSuite is also that of claude-text, which is this adapter with another program.
func TestSuite(t *testing.T) {
	const script = `read -r line; case "$line" in
		slow) for i in $(seq 3000); do echo $i; sleep 0.02; done;;
		die) echo so far; kill -9 $$;;
		half) printf 'a\xf0\x9f'; exit 1;;
		garbage) printf '\xff\xfe\033[\000\n';;
		rich) echo "you"; echo "said:";;
		huge) head -c 50000000 /dev/zero | tr '\000' x;;
		esac; echo "you said: $line"`
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime { return bash(script) },
		Cut: func(t testing.TB, c *agenttest.Cut) agent.Runtime {
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			return command.Runtime{Command: exe, Env: append(environ(), "FAKE_COMMAND="+script, c.Env())}
		},
		EndsByExit: true,
		Prompts: map[agenttest.Ability]string{
			agenttest.Text: "hello", agenttest.Slow: "slow",
			agenttest.Die: "die", agenttest.Half: "half", agenttest.Garbage: "garbage", agenttest.Huge: "huge",
			agenttest.Rich: "rich",
		},
		Turns: []string{"", "two\nlines", strings.Repeat("long ", 100_000)},
	})
}

// play runs one turn and returns what was said and how the turn ended.
func play(t *testing.T, r command.Runtime, text string) (string, trace.Stop) {
	t.Helper()
	host := agenttest.NewHost()
	s, err := r.Open(t.Context(), host, agent.Config{SessionID: "s", Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
	turn := host.Turn(p)
	if err := s.Prompt(t.Context(), p, turn.Builder); err != nil {
		t.Fatal(err)
	}
	stop, _ := turn.Result()
	if err := turn.Finish(stop); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(agenttest.Said(turn.Events()), "\n"), stop
}

func TestPromptGoesWhereTheConfigurationSays(t *testing.T) {
	if said, _ := play(t, bash(`cat; echo "args: $*"`), "to stdin"); said != "to stdin\nargs: \n" {
		t.Errorf("said %q", said)
	}
	if said, _ := play(t, bash(`cat; echo "args: $*"`, "--ask={prompt}", "$(no shell)"), "as argument"); said != "args: --ask=as argument $(no shell)\n" {
		t.Errorf("said %q", said)
	}
	if said, _ := play(t, bash(`echo "$1"`, "{prompt}"), "; rm -rf / $(id) `id`"); said != "; rm -rf / $(id) `id`\n" {
		t.Errorf("said %q", said)
	}
}

func TestOutputIsPlainText(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"colours", `printf '\033[1;31mred\033[0m and \033]0;title\007plain\r\n'`, "red and plain\n"},
		{"a sequence in two pieces", `printf '\033[1'; sleep 0.05; printf ';31mred\033'; sleep 0.05; printf '[0m.'`, "red."},
		{"a rune in pieces", `for b in '\xf0' '\x9f' '\x8c' '\x8a'; do printf "$b"; sleep 0.03; done; printf ' river'`, "🌊 river"},
		{"no UTF-8", `printf 'a\xffb'`, "a\uFFFDb"},
		{"a cut rune at the end", `printf 'a\xf0\x9f'`, "a\uFFFD"},
		{"line breaks and tabs stay", `printf 'a\tb\n\nc'`, "a\tb\n\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, stop := play(t, bash(c.script), "x")
			if said != c.want || stop.Outcome != trace.OutcomeCompleted {
				t.Errorf("said %q, want %q; ended as %+v", said, c.want, stop)
			}
		})
	}
}

func TestAFailureHasTheExitCodeAndTheEndOfStderr(t *testing.T) {
	said, stop := play(t, bash(`echo so far; echo noise >&2; echo "no such model" >&2; exit 7`), "x")
	if said != "so far\n" || stop.Outcome != trace.OutcomeFailed || !strings.Contains(stop.Error, "exit status 7: no such model") {
		t.Errorf("said %q, ended as %+v", said, stop)
	}
}

func TestProgramThatDoesNotReadItsInputAnswers(t *testing.T) {
	if said, stop := play(t, bash(`echo hello`), strings.Repeat("x", 1<<20)); said != "hello\n" || stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("said %q, ended as %+v", said, stop)
	}
}

func TestAMissingProgramIsReportedInOneSentence(t *testing.T) {
	r := command.Runtime{Command: "no-such-program", Env: environ()}
	_, err := r.Probe(t.Context())
	_, stop := play(t, r, "x")
	want := `the program "no-such-program" was not found: install it, or correct the agent's command`
	if err == nil || err.Error() != want || stop.Error != want {
		t.Errorf("Probe says %v, the turn %q", err, stop.Error)
	}
	if stop.Reason != trace.ReasonUnavailable || !stop.Infrastructure() {
		t.Errorf("the turn ended as %+v", stop)
	}
	if _, stop := play(t, bash("exit 1"), "x"); stop.Reason == trace.ReasonUnavailable || stop.Infrastructure() {
		t.Errorf("a program that fails is a program that is missing: %+v", stop)
	}
}

func TestAProgramThatMayNotBeExecutedIsNotCalledMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := command.Runtime{Command: file, Env: environ()}
	_, err := r.Probe(t.Context())
	_, stop := play(t, r, "x")
	want := file + " may not be executed: correct command, or make the file executable with `chmod +x`"
	if err == nil || err.Error() != want || stop.Error != want {
		t.Errorf("Probe says %v, the turn %q", err, stop.Error)
	}
}

func TestNothingOfTheEnvironmentIsInherited(t *testing.T) {
	t.Setenv("TRIBUTARY_SECRET", "hidden")
	if said, _ := play(t, bash(`env | grep -c SECRET`), "x"); said != "0\n" {
		t.Errorf("the program sees %q", said)
	}
}

func TestPromptIsNeverAnOption(t *testing.T) {
	if said, _ := play(t, bash(`echo "[$1]"`, "{prompt}"), "--dangerously-skip-permissions"); said != "[ --dangerously-skip-permissions]\n" {
		t.Errorf("said %q", said)
	}
	if said, _ := play(t, bash(`echo "[$1]"`, "{prompt}"), "a\x00b"); said != "[ab]\n" {
		t.Errorf("said %q", said)
	}
}

// The program may be an agent that reads the files that its words mention.
//
//evidence:for promise-mentions
func TestAPromptMentionsNoFileOutside(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	for _, r := range []command.Runtime{bash("cat"), bash(`printf %s "$1"`, "{prompt}")} {
		host := agenttest.NewHost()
		host.Dir = d
		s := agenttest.Open(t, r, host, agent.Config{SessionID: "s", Cwd: d.Path()})
		parts := permissiontest.MentioningParts(d)
		if len(r.Args) > 3 {
			parts = slices.DeleteFunc(parts, func(p trace.InputPart) bool { return p.Type != trace.InputText || len(p.Text) > 1000 })
		}
		events, _ := agenttest.Turn(t, s, host, agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: parts}})
		permissiontest.CheckSent(t, []byte(agenttest.Said(events)))
	}
}
