package spaces

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Form says where the sessions of an agent work.
type Form string

// The forms.
const (
	Shared      Form = "shared"   // all in the agent's directory
	OwnWorktree Form = "worktree" // each in a git worktree of it
	OwnCopy     Form = "copy"     // each in a copy of it
)

// Own reports whether each session has a workspace of its own. The form "" is Shared.
func (f Form) Own() bool { return f != "" && f != Shared }

// ErrGone says that a workspace is not there. The wrapping error names its directory.
var ErrGone = errors.New("the workspace of this session is gone from this machine, so the session cannot go on: begin a new session")

const (
	// maxSlug bounds the part of a name that is made of the session's id.
	maxSlug = 40
	// maxNote bounds what is read of a note.
	maxNote = 64 << 10
	// noteName is the file that says what a workspace is, beside its directory.
	noteName = "space.json"
)

// Space is the workspace of a session.
type Space struct {
	Name    string    `json:"name"`
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Form    Form      `json:"form"`
	Source  string    `json:"source"`         // the agent's directory
	Base    string    `json:"base,omitempty"` // the commit that a worktree began at
	Top     string    `json:"top"`            // the name of the directory in the workspace
	Below   string    `json:"below"`          // where the agent works below it
	Made    time.Time `json:"made"`
	// Ready is false while the workspace is made or removed.
	Ready bool `json:"ready"`

	dir string // of the maker
}

// Name makes the name of the directory for a session's workspace: lower-case letters, digits and
// dashes, at most 51 bytes. A later session of the same id gets another name.
func Name(session string, created time.Time) string {
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(session))
	slug = strings.Trim(slug[:min(len(slug), maxSlug)], "-")
	if slug == "" {
		slug = "session"
	}
	sum := sha256.Sum256([]byte(session + "\x00" + strconv.FormatInt(created.UnixNano(), 10)))
	return slug + "-" + hex.EncodeToString(sum[:5])
}

func isName(name string) bool {
	return name != "" && len(name) <= maxSlug+11 && name[0] != '-' &&
		!strings.ContainsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
}

// Path is the directory that the agent works in.
func (s Space) Path() string { return filepath.Join(s.top(), s.Below) }

func (s Space) home() string   { return filepath.Join(s.dir, s.Name) }
func (s Space) top() string    { return filepath.Join(s.home(), s.Top) }
func (s Space) branch() string { return "tributary/" + s.Name }

// read reads the note of a workspace. An agent may have written to the note, so nothing in it
// names another place than the workspace itself.
func (m *Maker) read(name string) (s Space, err error) {
	gone := fmt.Errorf("%w (%s)", ErrGone, filepath.Join(m.dir, name))
	if !isName(name) {
		return s, gone
	}
	path := filepath.Join(m.dir, name, noteName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, gone
	}
	var data []byte
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxNote {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return s, fmt.Errorf("read the note of a workspace: %w", err)
	}
	wrong := json.Unmarshal(data, &s) != nil || s.Top == noteName || filepath.Base(s.Top) != s.Top || !filepath.IsLocal(s.Top) || s.Below != "" && !filepath.IsLocal(s.Below)
	if s.Name, s.dir = name, m.dir; wrong {
		return s, fmt.Errorf("%s does not say what this workspace is: remove the directory if you do not need its files", path)
	}
	return s, nil
}

// write writes the note, in one step.
func (s Space) write() error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	path := filepath.Join(s.home(), noteName)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
