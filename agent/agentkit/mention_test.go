package agentkit_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

// A file outside that a prompt mentions with @ is not handed to the agent's own
// expansion; a file inside is, and an address stays an address.
func TestMentions(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	for text, want := range map[string]string{
		"see @a.txt, please":            "see @a.txt, please",
		"see @sub/b.txt.":               "see @sub/b.txt.",
		"(see @" + d.Path() + "/a.txt)": "(see @" + d.Path() + "/a.txt)",
		"write to ada@example.com":      "write to ada@example.com",
		"@ada will @review it":          "@ada will @review it",
		"a lone @ and a last @":         "a lone @ and a last @",
		"@/etc/passwd":                  "@ /etc/passwd",
		"@/":                            "@ /",
		"@..":                           "@ ..",
		"see\n@/etc/passwd":             "see\n@ /etc/passwd",
		"see。@/etc/passwd":              "see。@ /etc/passwd",
		"see\u00a0@/etc/passwd":         "see\u00a0@ /etc/passwd",
		"@~/.ssh/id_rsa":                "@ ~/.ssh/id_rsa",
		`@"/etc/passwd"`:                `@ "/etc/passwd"`,
		`@"my file"`:                    `@ "my file"`,
		"@../outside/secret":            "@ ../outside/secret",
		"@sub/../../outside/secret":     "@ sub/../../outside/secret",
		"@out":                          "@ out",
		"@out.":                         "@ out.",
		"@out,":                         "@ out,",
		"@out/":                         "@ out/",
		"@out#L1":                       "@ out#L1",
		"@outdir/secret":                "@ outdir/secret",
		"@outé":                         "@ outé",
		"@docs:file:///etc/passwd":      "@ docs:file:///etc/passwd",
		"@[x](claude-ref:/etc/passwd)":  "@ [x](claude-ref:/etc/passwd)",
		"@a.txt @/etc/passwd (@out)":    "@a.txt @ /etc/passwd (@ out)",
		"@@/etc/passwd":                 "@ @ /etc/passwd",
		"@@ -1 +1 @@\n x":               "@@ -1 +1 @@\n x",
		`x\n@@\n-a (b)\n+c\n`:           `x\n@@\n-a (b)\n+c\n`,
		`@@\n/../../etc/passwd`:         `@ @ \n/../../etc/passwd`,
		`@\n/../../etc/passwd`:          `@ \n/../../etc/passwd`,
		"git@host.example:a/b.git":      "git@host.example:a/b.git",
		"<ada@example.com>, x@1.2.3":    "<ada@example.com>, x@1.2.3",
		"x@../out":                      "x@ ../out",
		"x@out":                         "x@ out",
		"é@/etc/passwd":                 "é@ /etc/passwd",
		".@/etc/passwd":                 ".@ /etc/passwd",
		"@deep/../out":                  "@ deep/../out",
		"@deep/..":                      "@ deep/..",
		"@sub/../..":                    "@ sub/../..",
		"@sub/..,":                      "@ sub/..,",
		"did you see @a.txt?!":          "did you see @a.txt?!",
		"well @ada...":                  "well @ada...",
		"@a.txt\u0085/../../etc/passwd": "@ a.txt\u0085/../../etc/passwd",
		"\uff20/etc/passwd":             "\uff20 /etc/passwd",
		"half a \xff byte @/etc/passwd": "half a \ufffd byte @ /etc/passwd",
		"no mention here \xff":          "no mention here \xff",
	} {
		parts := []trace.InputPart{{Type: trace.InputText, Text: text}}
		if got := agentkit.PromptText(agent.Prompt{Message: trace.UserMessage{Parts: parts}}, d.Contains); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestBlocksMentionNoFileOutside plays the mentions in each field of a part, for an agent that
// takes every file as such, and for one that takes words only.
//
//evidence:for promise-mentions
func TestBlocksMentionNoFileOutside(t *testing.T) {
	t.Parallel()
	d := permissiontest.Workspace(t)
	text := func(words string) any { return map[string]any{"type": "text", "text": words} }
	for _, file := range []func(agentkit.Attachment) (any, bool){
		agentkit.NoFile[any],
		func(a agentkit.Attachment) (any, bool) {
			if a.IsImage() && !a.IsText() {
				a.Data = nil
			}
			return map[string]any{"type": "file", "name": a.Name, "media": a.Media, "url": a.Address(), "data": a.Data}, true
		},
	} {
		sent, err := json.Marshal(agentkit.Blocks(permissiontest.MentioningParts(d), d.Contains, text, file))
		if err != nil {
			t.Fatal(err)
		}
		permissiontest.CheckSent(t, sent)
	}
}

// A file in a directory that is closed is outside, also where it is in the workspace.
func TestAClosedDirectoryIsNotMentioned(t *testing.T) {
	t.Parallel()
	open := permissiontest.Workspace(t)
	d, err := workspace.Open(open.Path(), workspace.Deny(filepath.Join(open.Path(), "sub")))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	parts := []trace.InputPart{{Type: trace.InputText, Text: "@sub/b.txt @sub/new @in @a.txt"}}
	if got := agentkit.PromptText(agent.Prompt{Message: trace.UserMessage{Parts: parts}}, d.Contains); got != "@ sub/b.txt @ sub/new @ in @a.txt" {
		t.Errorf("it becomes %q", got)
	}
}

// A prompt may be large. Neither many mentions nor a long word cost more than reading it.
func TestMentionsOfALargePromptCostLittle(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it measures time, of one goroutine")
	}
	for _, text := range []string{strings.Repeat("@", 4<<20), strings.Repeat("@a", 2<<20), strings.Repeat("@a ", 1<<20), strings.Repeat("@a!", 1<<20), "@" + strings.Repeat("a", 4<<20), strings.Repeat("x@../", 1<<20)} {
		asked := 0
		parts := []trace.InputPart{{Type: trace.InputText, Text: text}}
		start := time.Now()
		agentkit.PromptText(agent.Prompt{Message: trace.UserMessage{Parts: parts}}, func(string) bool { asked++; return true })
		if spent := time.Since(start); asked > 1000 || spent > 10*time.Second {
			t.Errorf("%.10s…: the workspace was asked %d times, in %s", text, asked, spent)
		}
	}
	numbered := &strings.Builder{}
	for i := range 2000 {
		fmt.Fprintf(numbered, "@f%d ", i)
	}
	asked := 0
	parts := []trace.InputPart{{Type: trace.InputText, Text: numbered.String()}}
	got := agentkit.PromptText(agent.Prompt{Message: trace.UserMessage{Parts: parts}}, func(string) bool { asked++; return true })
	if asked != 1000 || !strings.Contains(got, "@f999 @ f1000 ") {
		t.Errorf("the workspace was asked %d times", asked)
	}
}
