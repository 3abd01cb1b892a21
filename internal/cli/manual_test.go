package cli

import (
	"strings"
	"testing"
)

func TestEveryCommandAndFlagIsInTheCompletionsAndTheManual(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"man": command(t, "", "man").out}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		r := command(t, "", "completion", shell)
		r.want(t, exitOK, "")
		texts[shell] = r.out
	}
	flagOf := map[string]string{"man": `\-\-%s`, "bash": "--%s", "zsh": "'--%s", "fish": " -l %s "}
	count := 0
	for _, leaf := range line(&commands{}).All() {
		if len(leaf.Below) > 0 {
			continue
		}
		if _, runs := leaf.Target.(runnable); !runs {
			t.Errorf("the command %s does nothing", leaf.Usage())
		}
		command := strings.Join(leaf.Path[1:], " ")
		for name, text := range texts {
			word := command
			switch name {
			case "zsh":
				word = "_tributary_" + strings.ReplaceAll(command, " ", "_") + "()"
			case "fish":
				word = "__fish_seen_subcommand_from " + strings.ReplaceAll(command, " ", "; and __fish_seen_subcommand_from ")
			}
			_, part, found := strings.Cut(text, word)
			if !found {
				t.Errorf("%s lacks the command %s", name, command)
			}
			for _, f := range leaf.Flags {
				if count++; !strings.Contains(part, strings.ReplaceAll(flagOf[name], "%s", strings.ReplaceAll(f.Name, "-", map[bool]string{true: `\-`, false: "-"}[name == "man"]))) {
					t.Errorf("%s lacks the flag --%s of %s", name, f.Name, command)
				}
			}
		}
	}
	if count < 60 {
		t.Errorf("only %d flags were looked for", count)
	}
}

func TestCompletionNeedsAShell(t *testing.T) {
	t.Parallel()
	command(t, "", "completion").want(t, exitUsage, "the shell is missing: write it at the end (")
	command(t, "", "completion", "tcsh").want(t, exitUsage, `the shell is "tcsh": write bash, zsh or fish`)
	command(t, "", "run").want(t, exitUsage, "in quotation marks if it has spaces, or - for standard input")
}
