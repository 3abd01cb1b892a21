package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheGuideToEvals follows the guide in a shell: it runs each block of commands, writes each file, and
// compares each table, in the order of the page.
func TestTheGuideToEvals(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/guides/evals.md")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "tributary")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), asProgram+"=1", "TMPDIR="+t.TempDir(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	statuses := map[string]int{"spelling": exitFailed}
	printed, run := "", 0
	for _, block := range regexp.MustCompile("(?ms)^```(\\w+) name=(\\S+)\n(.*?)^```").FindAllStringSubmatch(string(page), -1) {
		language, name, text := block[1], block[2], block[3]
		switch language {
		case "sh":
			c := exec.CommandContext(t.Context(), "sh", "-euc", text)
			c.Dir, c.Env = dir, env
			out, _ := c.CombinedOutput()
			if got := c.ProcessState.ExitCode(); got != statuses[name] {
				t.Fatalf("%s: exit status %d, want %d: %s", name, got, statuses[name], out)
			}
			printed = string(out)
			if strings.Contains(text, "cd my-evals") {
				dir = filepath.Join(dir, "my-evals")
			}
			run++
		case "yaml":
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		case "text":
			if seen := regexp.MustCompile(`\d+\.\d`); !strings.Contains(lines(seen.ReplaceAllString(printed, "0.0")), lines(text)) {
				t.Errorf("%s: the program prints\n%s\nand not\n%s", name, printed, text)
			}
		default:
			t.Errorf("the block %s is of the language %s, which this test does not know", name, language)
		}
	}
	if blocks := strings.Count(string(page), "\n```") / 2; run != 3 || blocks != 7 {
		t.Errorf("%d of %d blocks were run", run, blocks)
	}
	if x, err := os.ReadFile(filepath.Join(dir, "junit.xml")); err != nil || !strings.Contains(string(x), `<testsuite name="careful" tests="1"`) {
		t.Error(fmt.Sprint(err), string(x))
	}
}

// lines is a text with single spaces, and none at the ends of lines.
func lines(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(all, "\n")
}
