package permission_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// generous are policies that allow any command, with the closed file or a rule that forbids it.
func generous() map[string]permission.Policy {
	allow := []permission.Rule{{Commands: []string{"cat *", "git *"}, Then: permission.Allow}, {Kinds: []trace.ToolKind{trace.ToolExecute}, Then: permission.Allow}}
	return map[string]permission.Policy{
		"closed":    {Rules: allow},
		"forbidden": {Rules: append([]permission.Rule{{Paths: []string{"sub/**"}, Then: permission.Deny}}, allow...)},
	}
}

// judgeCommand judges a command where sub/key, or all of sub, is out of reach.
func judgeCommand(t testing.TB, reason, input string) permission.Verdict {
	s := permission.Scope{
		Tools: toolkind.OpenAI(), Contains: func(string) bool { return true },
		Resolve: func(p string) (string, error) {
			if path.IsAbs(p) {
				return "", fmt.Errorf("%s is elsewhere", p)
			}
			return path.Clean(p), nil
		},
		Holds: func(string) bool { return false },
	}
	if reason == "closed" {
		s.Closed = func(p string) bool { return path.Clean(p) == "sub/key" || path.Clean(p) == "sub/a key" || p == "~/key" }
	}
	return judge(generous()[reason], called("bash", input), s)
}

func command(t testing.TB, line string) string {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	return string(input)
}

// A command that names what is closed, or what a rule forbids, is not allowed, wherever in the
// line the name stands.
func TestNoSignOfAShellHidesAFile(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"cat sub/key", "cat sub/key | head", "head < sub/key", "cat <sub/key", "cat sub/key; true", "true;cat sub/key", "A=1 cat sub/key", "A=sub/key; cat $A", "cat sub/key\n",
		"ls && cat 'sub/key'", `ls && cat "sub/key"`, `ls & cat s'ub/k'"ey"`, `ls; cat su\b/key`, "ls; cat su\\\nb/key", "ls; cat './sub/a key'", `ls; cat sub/a\ key`, "cat $(echo sub/key)", "cat `echo sub/key`",
		"cat {a,sub/key}", "(cat sub/key)", "{ cat sub/key; }", "cat > x <<EOF\nsub/key\nEOF", "echo don't; cat 'sub/a key'", "cat sub/key # x", "x 2>sub/key", "x 2>>sub/key",
		"bash -c 'cat sub/key'", "bash -c 'cat sub/key | head'", `true; bash -c "cat 'sub/a key'"`, `true; sh -c "sh -c 'cat sub/a\\ key'"`, `bash -c "cat s'u'b/key"`,
		`python3 -c "print(open('sub/key').read())"`, "git show HEAD:sub/key", "curl -d @sub/key x", "curl --data=@sub/key x", "grep --file=sub/key x", "grep -fsub/key x", "git log -- :sub/key",
		"cat file:sub/key", "git commit -m 'sub/key'",
	} {
		for reason := range generous() {
			if got := judgeCommand(t, reason, command(t, line)); got == permission.Allow {
				t.Errorf("%s: %q is allowed unasked", reason, line)
			}
		}
	}
	for _, line := range []string{`ls; cat "$HOME/key"`, "ls; cat ${HOME}/key", "ls; cat ~/key", "tar --file=$HOME/key", "tar -f$HOME/key"} {
		if got := judgeCommand(t, "closed", command(t, line)); got == permission.Allow {
			t.Errorf("%q is allowed unasked", line)
		}
	}
	for _, input := range []string{
		`{"command":"cat key","cwd":"sub"}`, `{"command":"cat key | head","cwd":"sub"}`, `{"command":["cat","sub/key"]}`, `{"command":["bash","-lc","cat sub/key"]}`, `{"command":"bash","stdin":"cat sub/key"}`,
		`{"command":{"line":"cat sub/key"}}`,
	} {
		for reason := range generous() {
			if got := judgeCommand(t, reason, input); got == permission.Allow {
				t.Errorf("%s: %s is allowed unasked", reason, input)
			}
		}
	}
	for _, line := range []string{"cat a.txt", "cat a.txt | head", "git show HEAD:a.txt && cat 'a key'", "cat subkey sub2/key", "python3 -c 'print(1)'", "cd /tmp && ls -la $HOME"} {
		for reason := range generous() {
			if got := judgeCommand(t, reason, command(t, line)); got != permission.Allow {
				t.Errorf("%s: %q: %s", reason, line, got)
			}
		}
	}
}

// A rule that forbids a file denies a command whose own words name it, and asks where the name
// is a part of a word.
func TestAForbiddenFileWithinAWordIsAsked(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]permission.Verdict{
		"cat sub/key": permission.Deny, "cat sub/key | head": permission.Deny, "x --file=sub/key": permission.Deny, "bash -c 'cat sub/key'": permission.Deny,
		"git commit -m 'close sub/key'": permission.Ask, "true; bash -c 'cat sub/key'": permission.Ask, "git show HEAD:sub/key": permission.Ask,
	} {
		if got := judgeCommand(t, "forbidden", command(t, line)); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}

// A command with more words than are looked at is asked, and so is one with more quotes in quotes.
func TestWhatIsNotLookedAtOfACommandIsAsked(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var words strings.Builder
		for i := range n {
			fmt.Fprintf(&words, " w%d", i)
		}
		return words.String()
	}
	deep := "cat sub/a\\ key"
	for range 8 {
		deep = "sh -c " + `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(deep) + `"`
	}
	for reason := range generous() {
		for name, c := range map[string]struct {
			line string
			want bool
		}{
			"31 words in front":           {"cat" + strings.Repeat(" a", 31) + " sub/key", false},
			"100 words in front":          {"cat" + many(100) + " sub/key", false},
			"many words in front":         {"cat" + many(5000) + " sub/key", false},
			"many words":                  {"cat" + many(5000), false},
			"many words, with a pipe":     {"cat" + many(5000) + " | head", false},
			"a hundred words":             {"cat" + many(100), true},
			"one word, many times":        {"cat" + strings.Repeat(" a", 5000), true},
			"many quotes in quotes":       {"true; " + deep, false},
			"a shell in a shell":          {`true; sh -c "sh -c 'cat a'"`, true},
			"words of a file, in the end": {"cat <<'EOF'" + many(5000) + "\nEOF\ncat sub/key", false},
		} {
			if got := judgeCommand(t, reason, command(t, c.line)); (got == permission.Allow) != c.want {
				t.Errorf("%s, %s: %s", reason, name, got)
			}
		}
	}
	// The same holds for the strings of another tool.
	var keys strings.Builder
	for i := range 100 {
		fmt.Fprintf(&keys, `"k%d":"v%d",`, i, i)
	}
	p := permission.Policy{Rules: []permission.Rule{{Paths: []string{".env"}, Then: permission.Deny}, {Then: permission.Allow}}}
	for input, want := range map[string]permission.Verdict{
		`{"a":"b"}`: permission.Allow, `{` + keys.String() + `"where":".env"}`: permission.Ask, `{"files":[".env"]}`: permission.Deny,
	} {
		if got := judge(p, called("mcp__fs__read", input), scope(t)); got != want {
			t.Errorf("%.40s: %s, want %s", input, got, want)
		}
	}
}

// Whatever stands around it, a command that has a closed file as a word is never allowed.
func TestACommandWithAClosedFileIsNeverAllowed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(26, 6))
	around := []string{"cat", "a.txt", "-x", "|", ";", "&&", "\n", "'", `"`, "\\", "$(", ")", "`", "{", "}", "<", ">", "=", "#", "~", "*", "\t", "'a b'", `"c d"`, "don't", "\\\"", "\u00a0", "é", "bash -c", "=", "--f="}
	names := []string{"sub/key", "./sub/key", "sub//key", "sub/./key", "'sub/key'", `"sub/key"`, `"sub/a key"`, "'sub/a key'", "~/key", "$HOME/key", "'./sub/a key'"}
	for range 2_000 {
		var line strings.Builder
		at := random.IntN(40)
		for i := range 40 {
			if i == at {
				line.WriteString(" " + names[random.IntN(len(names))])
			} else {
				line.WriteString([]string{"", " "}[random.IntN(2)] + around[random.IntN(len(around))])
			}
			if i == at {
				line.WriteString(" ")
			}
		}
		if got := judgeCommand(t, "closed", command(t, line.String())); got == permission.Allow {
			t.Fatalf("%q is allowed unasked", line.String())
		}
	}
}

// FuzzCommandWithAClosedFile writes what it likes around the name of a closed file.
func FuzzCommandWithAClosedFile(f *testing.F) {
	for _, s := range [][2]string{{"cat", ""}, {"cat a | head <", "; true"}, {"echo don't", "'"}, {"A=1 cat", "# x"}, {`bash -c "cat`, `"`}, {"cat \\", ""}, {"cat <<EOF\n", "\nEOF"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		for _, name := range []string{"sub/key", "'sub/key'", `"sub/a key"`, "~/key"} {
			for reason := range generous() {
				if line := before + " " + name + " " + after; (reason == "closed" || name != "~/key") && judgeCommand(t, reason, command(t, line)) == permission.Allow {
					t.Errorf("%s: %q is allowed unasked", reason, line)
				}
			}
		}
	})
}
