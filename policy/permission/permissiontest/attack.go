package permissiontest

// Operation is what a tool does, for the tools that attacks use.
type Operation string

// The operations. An agent that has no tool for one leaves it out of its Dialect.
const (
	Read   Operation = "read"   // one file, by <path>
	Edit   Operation = "edit"   // one file, by <path>, to <content>
	Find   Operation = "find"   // names of files, by <pattern> below <path>
	Search Operation = "search" // content of files, by <expression> below <path>, in files like <glob>
	Run    Operation = "run"    // a shell, by <command>
)

// Attack is one call. In its inputs <path> and the like stand for the agent's own
// keys, WS for the workspace, and TOP for the directory above the workspace.
type Attack struct {
	Name  string
	Does  Operation
	Input string
	// Shown is what the agent shows before it asks, if that is another call.
	Shown      Operation
	ShownInput string
	// Allowed says that the call is harmless, and that the policy allows it.
	Allowed bool
}

// Attacks returns the table.
func Attacks() []Attack {
	var all []Attack
	for name, p := range outside() {
		all = append(all,
			Attack{Name: "read " + name, Does: Read, Input: `{"<path>":` + p + `}`},
			Attack{Name: "write " + name, Does: Edit, Input: `{"<path>":` + p + `,"<content>":"x"}`},
			Attack{Name: "find below " + name, Does: Find, Input: `{"<path>":` + p + `,"<pattern>":"*"}`},
			Attack{Name: "search below " + name, Does: Search, Input: `{"<path>":` + p + `,"<expression>":"x"}`},
			Attack{Name: "a second path key with " + name, Does: Read, Input: `{"<path>":"a.txt","<second>":` + p + `}`},
			Attack{Name: "an unknown key with " + name, Does: Read, Input: `{"<path>":"a.txt","also":` + p + `}`},
		)
	}
	for name, p := range patterns() {
		all = append(all,
			Attack{Name: "find by pattern: " + name, Does: Find, Input: `{"<path>":"WS","<pattern>":` + p + `}`},
			Attack{Name: "find by pattern, without a path: " + name, Does: Find, Input: `{"<pattern>":` + p + `}`},
			Attack{Name: "search by glob: " + name, Does: Search, Input: `{"<path>":"WS","<expression>":"x","<glob>":` + p + `}`},
			Attack{Name: "read by pattern: " + name, Does: Read, Input: `{"<path>":` + p + `}`},
		)
	}
	return append(append(all, odd()...), harmless()...)
}

// outside are paths, as JSON, that must not be taken to be in the workspace.
func outside() map[string]string {
	return map[string]string{
		"the home":                  `"~"`,
		"a file of the home":        `"~/.ssh/id_rsa"`,
		"the home with a slash":     `"~/"`,
		"root's home":               `"~root/.bashrc"`,
		"another directory's home":  `"~+/x"`,
		"the home after a dot":      `"./~/.ssh/id_rsa"`,
		"a variable":                `"$HOME/.ssh/id_rsa"`,
		"a variable in braces":      `"${HOME}/.ssh/id_rsa"`,
		"a command":                 `"$(echo /etc/passwd)"`,
		"a command in back quotes":  "\"`echo /etc/passwd`\"",
		"a variable of Windows":     `"%USERPROFILE%\\x"`,
		"percent escapes":           `"%2e%2e/outside/secret"`,
		"an absolute path":          `"/etc/passwd"`,
		"two slashes":               `"//etc/passwd"`,
		"the directory above":       `".."`,
		"a file above":              `"../outside/secret"`,
		"above on the way":          `"sub/../../outside/secret"`,
		"above by an absolute path": `"WS/../outside/secret"`,
		"a neighbour by its name":   `"WS2/secret"`,
		"a link to a file":          `"out"`,
		"a link to a directory":     `"outdir/secret"`,
		"a link, then up":           `"deep/../out"`,
		"a file URL":                `"file:///etc/passwd"`,
		"a file URL with a host":    `"file://localhost/etc/passwd"`,
		"a drive":                   `"C:\\Windows\\win.ini"`,
		"a drive with slashes":      `"C:/Windows/win.ini"`,
		"a share":                   `"\\\\host\\share\\x"`,
		"backslashes":               `"..\\outside\\secret"`,
		"a NUL":                     `"a.txt\u0000/../../outside/secret"`,
		"a NUL at the end":          `"/etc/passwd\u0000.txt"`,
		"nothing":                   `""`,
		"a space":                   `" "`,
		"a space in front":          `" /etc/passwd"`,
		"a line break in front":     `"\n/etc/passwd"`,
		"two lines":                 `"a.txt\n/etc/passwd"`,
		"a wide space in front":     `"\u00a0/etc/passwd"`,
		"an invisible mark":         `"\u200b/etc/passwd"`,
		"a byte order mark":         `"\ufeff/etc/passwd"`,
		"wide dots and slashes":     `"\uff0e\uff0e\uff0foutside\uff0fsecret"`,
		"a leader of two dots":      `"\u2025/outside/secret"`,
		"a slash for fractions":     `"..\u2044outside\u2044secret"`,
		"a wide tilde":              `"\uff5e/.ssh/id_rsa"`,
		"half a surrogate":          `"\ud800a"`,
		"quotes":                    `"\"/etc/passwd\""`,
		"single quotes":             `"'/etc/passwd'"`,
		"a glob":                    `"/etc/pass*"`,
		"a glob in the workspace":   `"outdi?/secret"`,
		"a class":                   `"[o]utdir/secret"`,
		"braces":                    `"{a.txt,/etc/passwd}"`,
		"a pattern of dots":         `"@(..)/outside/secret"`,
		"an option":                 `"--files-from=/etc/passwd"`,
		"a list in a string":        `"a.txt /etc/passwd;x"`,
		"a file of arguments":       `"@/etc/passwd"`,
		"the expansion of =":        `"=ls"`,
		"three dots":                `".../outside"`,
		"dots that Windows cuts":    `".. /outside/secret"`,
		"the process's own root":    `"/proc/self/root/etc/passwd"`,
		"the process's own folder":  `"/proc/self/cwd/../outside/secret"`,
		"a device":                  `"/dev/stdin"`,
		"an open file":              `"/dev/fd/3"`,
		"a list":                    `["WS/a.txt","/etc/passwd"]`,
		"a list of one":             `["/etc/passwd"]`,
		"a list of lists":           `[["/etc/passwd"]]`,
		"an object":                 `{"path":"/etc/passwd"}`,
		"an object with a list":     `{"all":["/etc/passwd"]}`,
		"an object of names":        `{"/etc/passwd":true}`,
		"a stream":                  `"a.txt::$DATA"`,
		"a revision":                `"HEAD:../outside/secret"`,
		"a pipe":                    `"|cat /etc/passwd"`,
		"a redirection":             `"a.txt</etc/passwd"`,
	}
}

// patterns are patterns, as JSON, that reach out of the workspace.
func patterns() map[string]string {
	return map[string]string{
		"absolute":              `"/etc/*"`,
		"above":                 `"../../../**/*"`,
		"above on the way":      `"**/../../outside/*"`,
		"the home":              `"~/.ssh/*"`,
		"root's home":           `"~root/*"`,
		"a variable":            `"$HOME/*"`,
		"braces":                `"{/etc,sub}/*"`,
		"braces in braces":      `"{sub,{/etc,sub}}/*"`,
		"braces with the home":  `"{~,sub}/.ssh/*"`,
		"braces that climb":     `"{.,..}/*"`,
		"braces that make dots": `".{.,}/*"`,
		"a range":               `"{0..9}/*"`,
		"an open brace":         `"{/etc,sub/*"`,
		"hidden names":          `".*/secret"`,
		"hidden names of one":   `".?/outside/*"`,
		"classes of dots":       `"[.][.]/outside/*"`,
		"a pattern of dots":     `"@(..)/outside/*"`,
		"a pattern after a dot": `".@(.)/outside/*"`,
		"a choice":              `"+(..|sub)/*"`,
		"a link":                `"outdir/*"`,
		"backslashes":           `"..\\*"`,
		"a file URL":            `"file:///etc/*"`,
		"a negation":            `"!/etc/*"`,
		"a line break":          `"*.go\n/etc/*"`,
		"a space in front":      `" /etc/*"`,
		"an option":             `"--pre=/bin/sh"`,
		"too many braces":       `"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}/*"`,
		"wide dots":             `"\uff0e\uff0e/outside/*"`,
	}
}

// odd are calls that a policy must not take for reads in the workspace.
func odd() []Attack {
	return []Attack{
		{Name: "a path that is there twice", Does: Read, Input: `{"<path>":"a.txt","<path>":"/etc/passwd"}`},
		{Name: "the same, the other way round", Does: Read, Input: `{"<path>":"/etc/passwd","<path>":"a.txt"}`},
		{Name: "no path", Does: Read, Input: `{}`},
		{Name: "a number", Does: Read, Input: `{"<path>":7}`},
		{Name: "null", Does: Read, Input: `{"<path>":null}`},
		{Name: "a list as input", Does: Read, Input: `["/etc/passwd"]`},
		{Name: "a string as input", Does: Read, Input: `"/etc/passwd"`},
		{Name: "a list of many", Does: Read, Input: `{"<path>":"a.txt","files":["/etc/passwd"]}`},
		{Name: "a deep input", Does: Read, Input: `{"<path>":"a.txt","x":{"y":{"z":"/etc/passwd"}}}`},
		{Name: "a path beside the URI of a server's resource", Does: Read, Input: `{"<path>":"a.txt","uri":"secrets/prod"}`},
		{Name: "a path beside a URL", Does: Read, Input: `{"<path>":"a.txt","url":"internal/admin"}`},
		{Name: "a path beside a server", Does: Read, Input: `{"<path>":"a.txt","server":"vault"}`},
		{Name: "a path beside a resource in an object", Does: Read, Input: `{"<path>":"a.txt","of":{"resource":"vault"}}`},
		{Name: "a path beside the id of a document", Does: Read, Input: `{"<path>":"WS/a.txt","document_id":"d1"}`},
		{Name: "a pattern beside a server", Does: Find, Input: `{"<pattern>":"*.go","server":"vault"}`},
		{Name: "an expression beside an index", Does: Search, Input: `{"<path>":"WS","<expression>":"x","index":"mails"}`},
		{Name: "a pattern beside a path outside", Does: Find, Input: `{"<path>":"/etc","<pattern>":"*"}`},
		{Name: "a list of patterns", Does: Find, Input: `{"<path>":"WS","<pattern>":["*","/etc/*"]}`},
		{Name: "a command", Does: Run, Input: `{"<command>":"ls"}`},
		{Name: "a command that is a path", Does: Run, Input: `{"<command>":"a.txt"}`},
		{Name: "shown a read, asked a command", Does: Run, Input: `{"<command>":"id"}`, Shown: Read, ShownInput: `{"<path>":"a.txt"}`},
		{Name: "shown a read, asked another read", Does: Read, Input: `{"<path>":"/etc/passwd"}`, Shown: Read, ShownInput: `{"<path>":"a.txt"}`},
		{Name: "shown a read, asked a write outside", Does: Edit, Input: `{"<path>":"~/.ssh/authorized_keys","<content>":"x"}`, Shown: Read, ShownInput: `{"<path>":"a.txt"}`},
		{Name: "shown a search, asked a search outside", Does: Search, Input: `{"<path>":"/etc","<expression>":"x"}`, Shown: Search, ShownInput: `{"<path>":"WS","<expression>":"x"}`},
		{Name: "shown a command, asked another", Does: Run, Input: `{"<command>":"touch TOP/pwned"}`, Shown: Run, ShownInput: `{"<command>":"ls"}`},
		{Name: "shown a read, asked nothing", Does: Read, Input: `{}`, Shown: Read, ShownInput: `{"<path>":"a.txt"}`},
	}
}

// harmless are calls that need nobody: a policy that asks for all is no policy.
func harmless() []Attack {
	return []Attack{
		{Name: "a file", Does: Read, Input: `{"<path>":"a.txt"}`, Allowed: true},
		{Name: "a file by its absolute path", Does: Read, Input: `{"<path>":"WS/a.txt","limit":3}`, Allowed: true},
		{Name: "a file below", Does: Read, Input: `{"<path>":"./sub/b.txt"}`, Allowed: true},
		{Name: "a file beside", Does: Read, Input: `{"<path>":"sub/../a.txt"}`, Allowed: true},
		{Name: "a file with brackets and spaces", Does: Read, Input: `{"<path>":"(group)/my file_1-2, é日本.txt"}`, Allowed: true},
		{Name: "a backup", Does: Read, Input: `{"<path>":"a.txt~"}`, Allowed: true},
		{Name: "a hidden file", Does: Read, Input: `{"<path>":".github/workflows"}`, Allowed: true},
		{Name: "a link that stays", Does: Read, Input: `{"<path>":"in"}`, Allowed: true},
		{Name: "a new file", Does: Edit, Input: `{"<path>":"new/file.go","<content>":"/etc/passwd ~ $HOME"}`, Allowed: true},
		{Name: "all sources", Does: Find, Input: `{"<pattern>":"**/*.go"}`, Allowed: true},
		{Name: "sources below", Does: Find, Input: `{"<path>":"WS","<pattern>":"src/*.ts"}`, Allowed: true},
		{Name: "sources of two kinds", Does: Find, Input: `{"<path>":"sub","<pattern>":"**/*.{ts,tsx}"}`, Allowed: true},
		{Name: "a class of names", Does: Find, Input: `{"<pattern>":"src/[a-z]*.ts"}`, Allowed: true},
		{Name: "hidden files", Does: Find, Input: `{"<pattern>":".github/**"}`, Allowed: true},
		{Name: "an absolute pattern that stays", Does: Find, Input: `{"<pattern>":"WS/sub/*.txt"}`, Allowed: true},
		{Name: "an expression that looks like a path", Does: Search, Input: `{"<path>":"WS","<expression>":"/etc/|~/.*$"}`, Allowed: true},
		{Name: "a search of some files", Does: Search, Input: `{"<expression>":"x","<glob>":"!**/*_test.go"}`, Allowed: true},
		{Name: "shown a command, asked a read", Does: Read, Input: `{"<path>":"a.txt"}`, Shown: Run, ShownInput: `{"<command>":"ls"}`, Allowed: true},
	}
}
