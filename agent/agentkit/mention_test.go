package agentkit_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/permission/permissiontest"
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
		"half a \xff byte @/etc/passwd": "half a \ufffd byte @ /etc/passwd",
		"no mention here \xff":          "no mention here \xff",
	} {
		if got := agentkit.Mentions(text, d.Contains); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
