package agent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/policy/workspace"
)

// SettingsReader is implemented by a Runtime whose agent obeys files of its workspace that name programs to start, or calls that
// need nobody. The session asks a person about these files before it opens the agent.
type SettingsReader interface {
	// SettingsFiles are these files. There are none if the agent is set up to leave them all out.
	SettingsFiles() []SettingsFile
	// WithoutSettings returns the Runtime whose agent leaves them out, or nil if this agent cannot.
	WithoutSettings() Runtime
}

// SettingsFile is a file of a workspace that an agent obeys.
type SettingsFile struct {
	// Path is relative to the workspace. An element * stands for every name, and ** for any number of elements.
	Path string
	// Harmless are keys at the top of a JSON object, or of the frontmatter of a Markdown file, that start nothing and allow nothing.
	// A file with no other keys does not count. Nil: every file counts.
	Harmless []string
	// Variables says that the file has a variable in each line, as NAME=value. A person is shown the names only, because values are
	// often secrets.
	Variables bool
}

// FoundSettings is a settings file that is there.
type FoundSettings struct {
	Path string `json:"path"`
	// Text is the file as far as a person is shown it: at most 16 KiB.
	Text string `json:"text"`
	// SHA256 is that of the whole file, in hex. If the file is Unread, SHA256 is drawn by chance, so that no earlier permission
	// covers the file.
	SHA256 string `json:"sha256"`
	// Unread says that the gateway cannot read the whole file. Text then says why, or is its beginning.
	Unread bool `json:"unread,omitempty"`

	read string // the sum of what could be read
}

// Same reports whether a file is as it was, as far as the gateway can read it.
func (f FoundSettings) Same(was FoundSettings) bool {
	return f.Path == was.Path && f.Text == was.Text && f.Unread == was.Unread && f.read == was.read
}

const (
	// mostSettingsShown bounds the text of a settings file, in bytes.
	mostSettingsShown = 16 << 10
	// mostSettingsFiles bounds how many files count. The last one found stands for all others.
	mostSettingsFiles = 200
	// mostSettingsNames bounds how many names are looked at. A folder with more counts as a file that cannot be read.
	mostSettingsNames = 5000
)

// FindSettings returns the settings files of a workspace that count, in the order of all.
func FindSettings(all []SettingsFile, dir workspace.Dir) []FoundSettings {
	var found []FoundSettings
	s := settingsSearch{dir: dir, left: mostSettingsNames}
	for _, f := range all {
		for _, name := range s.matches(".", strings.Split(f.Path, "/")) {
			if slices.ContainsFunc(found, func(other FoundSettings) bool { return other.Path == name }) {
				continue
			}
			if len(found) == mostSettingsFiles {
				return append(found, FoundSettings{Path: path.Dir(name), Text: "more files than the gateway looks at", SHA256: rand.Text(), Unread: true})
			}
			if one, counts := f.read(dir, name); counts {
				found = append(found, one)
			}
		}
	}
	return found
}

// settingsSearch looks at a bounded number of names. Links may make a folder endless.
type settingsSearch struct {
	dir  workspace.Dir
	left int
}

// matches lists the files that elements of a path name. One that cannot be looked at is among them, and a folder with more names than
// are left.
func (s *settingsSearch) matches(in string, elements []string) []string {
	name := path.Join(in, elements[0])
	switch {
	case elements[0] == "**":
		all := s.matches(in, elements[1:])
		entries, _ := s.dir.List(in) // the line before has an error
		for _, e := range entries {
			if s.left <= 0 {
				return append(all, in)
			}
			if below := path.Join(in, e.Name); (e.Type.IsDir() || e.Type&fs.ModeSymlink != 0) && isDir(s.dir, below) {
				all = append(all, s.matches(below, elements)...)
			}
		}
		return all
	case elements[0] == "*":
		entries, err := s.dir.List(in)
		if err != nil && missing(err) {
			return nil
		}
		if s.left -= len(entries) + 1; err != nil || s.left <= 0 {
			return []string{in}
		}
		var all []string
		for _, e := range entries {
			if len(elements) > 1 || !e.Type.IsDir() {
				all = append(all, s.matches(in, append([]string{e.Name}, elements[1:]...))...)
			}
		}
		return all
	case len(elements) > 1:
		return s.matches(name, elements[1:])
	}
	if _, err := s.dir.Stat(name); err != nil && missing(err) {
		return nil
	}
	return []string{name}
}

func isDir(dir workspace.Dir, name string) bool {
	info, err := dir.Stat(name)
	return err != nil && !missing(err) || err == nil && info.IsDir()
}

func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// read reads a file, and reports whether it counts.
func (f SettingsFile) read(dir workspace.Dir, name string) (found FoundSettings, counts bool) {
	data, cut, err := dir.ReadFile(name)
	if err != nil {
		return FoundSettings{Path: name, Text: err.Error(), SHA256: rand.Text(), Unread: true}, !missing(err)
	}
	if f.harmless(data, strings.HasSuffix(name, ".md")) && !cut {
		return found, false
	}
	sum := sha256.Sum256(data)
	found = FoundSettings{Path: name, SHA256: hex.EncodeToString(sum[:]), read: string(sum[:])}
	if cut {
		found.SHA256, found.Unread = rand.Text(), true
	}
	if f.Variables {
		data = namesOnly(data)
	}
	shown := data[:min(len(data), mostSettingsShown)]
	for len(shown) < len(data) && len(shown) > 0 && !utf8.RuneStart(data[len(shown)]) {
		shown = shown[:len(shown)-1]
	}
	found.Text = strings.ToValidUTF8(string(shown), "\uFFFD")
	return found, true
}

// namesOnly leaves out all but the names of variables: an ellipsis stands for each other line. A value in quotes may have several.
func namesOnly(data []byte) []byte {
	var names strings.Builder
	inside := "" // the quote that is open
	for line := range strings.Lines(string(data)) {
		name, value, is := strings.Cut(strings.TrimSpace(line), "=")
		name, value = strings.TrimSpace(strings.TrimPrefix(name, "export ")), strings.TrimSpace(value)
		other := func(r rune) bool { return r != '_' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		switch {
		case inside != "":
			names.WriteString("…\n")
			if strings.Contains(line, inside) {
				inside = ""
			}
		case !is || name == "" || strings.ContainsFunc(name, other):
			names.WriteString("…\n")
		default:
			names.WriteString(name + "=…\n")
			if value != "" && strings.ContainsAny(value[:1], "\"'`") && strings.Count(value, value[:1]) == 1 {
				inside = value[:1]
			}
		}
	}
	return []byte(names.String())
}

// harmless reports whether a file has harmless keys only, or none.
func (f SettingsFile) harmless(data []byte, markdown bool) bool {
	if f.Harmless == nil {
		return false
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return true
	}
	if markdown {
		return f.harmlessFront(strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF")))
	}
	var keys map[string]json.RawMessage
	if strings.Contains(text, "{env:") || strings.Contains(text, "{file:") || json.Unmarshal(data, &keys) != nil {
		return false // OpenCode puts another text into the place of these words before it reads the JSON
	}
	for key := range keys {
		if !slices.Contains(f.Harmless, key) {
			return false
		}
	}
	return true
}

// harmlessFront reports whether the frontmatter of a Markdown file has harmless keys only, or whether there is none. Each key must
// stand at the beginning of a line, without quotes. Other forms of YAML count.
func (f SettingsFile) harmlessFront(text string) bool {
	const fence = "---"
	if !strings.HasPrefix(text, fence) {
		return true
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	keyed := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t")
		switch {
		case line == "":
		case line == fence && i > 0:
			return true
		case line == fence:
		case keyed && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "- ")): // of the key before
		default:
			key, _, is := strings.Cut(line, ":")
			if keyed = is && slices.Contains(f.Harmless, key); !keyed {
				return false
			}
		}
	}
	return false // it has no end
}

// ClaudeSettings are the settings files of Claude Code. Rules and modes in them let no call run unasked where the gateway is asked
// about every call, and their hooks count only with hooks. A status line is for terminals.
func ClaudeSettings(hooks bool) []SettingsFile {
	harmless := []string{"$schema", "permissions", "disableAllHooks", "statusLine", "model", "outputStyle", "language", "includeCoAuthoredBy", "attribution"}
	if !hooks {
		harmless = append(harmless, "hooks")
	}
	return []SettingsFile{
		{Path: ".claude/settings.json", Harmless: harmless},
		{Path: ".claude/settings.local.json", Harmless: harmless},
		{Path: ".mcp.json", Harmless: []string{}},
		// A skill with this folder is a plugin.
		{Path: ".claude/skills/*/.claude-plugin/**/*"},
		{Path: ".claude/skills/*/.mcp.json"},
		{Path: ".claude/skills/*/.lsp.json"},
		{Path: ".claude/skills/*/hooks/**/*"},
		// Servers of a sub-agent start with it.
		{Path: ".claude/agents/**/*", Harmless: []string{"name", "description", "tools", "disallowedTools", "model", "permissionMode", "skills", "color", "background", "effort"}},
	}
}

// OpenCodeAlone is the variable by which OpenCode leaves out the settings of the project.
const OpenCodeAlone = "OPENCODE_DISABLE_PROJECT_CONFIG=1"

// OpenCodeSettings are the settings files of OpenCode. Any text in them may name a file or a variable that takes its place. With
// asks the gateway has rules of its own in each session, which come after those of the files.
func OpenCodeSettings(asks bool) []SettingsFile {
	return openCodeSettings(asks, []string{"opencode"}, []string{".opencode/"})
}

// KiloSettings are those of Kilo, which is made from OpenCode and reads its files, too.
func KiloSettings(asks bool) []SettingsFile {
	return openCodeSettings(asks, []string{"opencode", "kilo"}, []string{".opencode/", ".kilo/", ".kilocode/"})
}

func openCodeSettings(asks bool, names, dirs []string) (all []SettingsFile) {
	harmless, programs := []string{"$schema", "model", "small_model", "theme"}, []string{"plugin/*", "plugins/*", "tool/*", "tools/*", "package.json", "package-lock.json", ".npmrc", "mcp.json"}
	if asks {
		harmless = append(harmless, "permission", "default_agent")
	} else {
		// Shell lines of a command run when a prompt names it.
		programs = append(programs, "agent/**/*", "agents/**/*", "mode/**/*", "modes/**/*", "command/**/*", "commands/**/*")
	}
	for _, dir := range append([]string{""}, dirs...) {
		for _, name := range names {
			all = append(all, SettingsFile{Path: dir + name + ".json", Harmless: harmless}, SettingsFile{Path: dir + name + ".jsonc", Harmless: harmless})
		}
	}
	for _, dir := range dirs {
		for _, program := range programs {
			all = append(all, SettingsFile{Path: dir + program})
		}
	}
	return all
}
