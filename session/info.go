package session

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the document of a session.

// Info is what is known of a session without reading its log. The registry keeps
// Info as its document.
type Info struct {
	ID        string `json:"id"`
	Agent     string `json:"agent"`
	Title     string `json:"title,omitempty"`
	CreatedBy string `json:"created_by,omitempty"`
	Kind      Kind   `json:"kind,omitempty"`
	// Members have roles in this session, by their names. The map is never changed.
	Members map[string]string `json:"members,omitempty"`
	// Hosted says that the session was found on its agent's server, which knows who may
	// do what in it.
	Hosted bool `json:"hosted,omitempty"`
	// NoChat says that the session is not open to AI SDK clients by its own route.
	NoChat bool `json:"no_chat,omitempty"`
	// Compat names the specification that the streams of the session follow,
	// if one was chosen when the session was made. The gateway reads it; this package
	// only keeps it.
	Compat string `json:"compat,omitempty"`
	// Mode and Model are those that somebody chose for the agent; "" is the default.
	Mode      string    `json:"mode,omitempty"`
	Model     string    `json:"model,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Resume is the agent's own name of the conversation.
	Resume string `json:"resume,omitempty"`
	// Since is the number of the last record that an earlier session of this id
	// left: marks before it are of another life.
	Since uint64 `json:"since,omitempty"`
	// AgentAt is the number of the record that says what is known of the agent, or 0.
	AgentAt uint64 `json:"agent_at,omitempty"`
	// Channels are those that prompts came from, but for the default one, in the order in
	// which they came first. The list is never changed, only replaced.
	Channels []string `json:"channels,omitempty"`
	// Grants are what persons have allowed beforehand. The list is never changed, only
	// replaced.
	Grants []permission.Grant `json:"grants,omitempty"`
	// Archived says that lists leave the session out unless they are asked for such sessions. A
	// prompt ends that.
	Archived bool `json:"archived,omitempty"`
	// Open lists the turns that have no stop on record, oldest first; those that are Held in the
	// order in which they will run. The list is never changed, only replaced or appended to.
	Open []TurnRef `json:"open,omitempty"`
	// Last is the newest turn that has ended.
	Last *TurnRef `json:"last,omitempty"`
	// Workspace is the session's own, if its agent's sessions had their own when it was made.
	Workspace Workspace `json:"workspace,omitzero"`
	// Home has what Resume names, and the workspace, if the agent's state is StateNode.
	Home Home `json:"home,omitzero"`

	absent uint64 // there was no such session when Hub.left was this; 0: nobody has looked
}

// Workspace says where a session works. The zero value means the agent's directory.
type Workspace struct {
	Form spaces.Form `json:"form"`
	Name string      `json:"name"` // of the workspace, for spaces.Maker
	// Made says that the workspace was ready once.
	Made bool `json:"made,omitempty"`
}

// going are the open turns that are not held.
func (i Info) going() []TurnRef {
	return slices.DeleteFunc(slices.Clone(i.Open), func(r TurnRef) bool { return r.Held })
}

// Held are the turns whose prompts are held, the next one first.
func (i Info) Held() []TurnRef {
	return slices.DeleteFunc(slices.Clone(i.Open), func(r TurnRef) bool { return !r.Held })
}

// isHeld reports whether the prompt of a turn is held.
func (i Info) isHeld(turn string) bool {
	return slices.ContainsFunc(i.Open, func(r TurnRef) bool { return r.Held && r.ID == turn })
}

// isOpen reports whether a turn is on the list of open turns.
func (i Info) isOpen(turn string) bool {
	return slices.ContainsFunc(i.Open, func(r TurnRef) bool { return r.ID == turn })
}

// openBut is the list of open turns without one of them.
func (i Info) openBut(turn string) []TurnRef {
	return slices.DeleteFunc(slices.Clone(i.Open), func(r TurnRef) bool { return r.ID == turn })
}

// entry is the session in the registry, with its document.
func (i Info) entry() (eventlog.Entry, error) {
	doc, err := json.Marshal(i)
	return eventlog.Entry{
		Session: i.ID, Agent: i.Agent, Title: i.Title, Kind: string(i.Kind), CreatedBy: i.CreatedBy,
		CreatedAt: i.CreatedAt, Updated: i.UpdatedAt, Members: i.Members, Phase: i.phase(), Archived: i.Archived, Doc: doc,
	}, err
}

func (i Info) phase() eventlog.Phase {
	switch {
	case len(i.going()) > 0:
		return eventlog.Open
	case i.Last != nil && i.Last.Outcome == trace.OutcomeFailed:
		return eventlog.Failed
	}
	return eventlog.Closed
}

// infoOf reads the document of a session.
func infoOf(id string, doc []byte) (info Info, err error) {
	if err = json.Unmarshal(doc, &info); err != nil {
		err = fmt.Errorf("the document of session %q cannot be read: %w", id, err)
	}
	return info, err
}

// TurnRef is where a turn stands.
type TurnRef struct {
	ID        string `json:"id"`
	MessageID string `json:"message_id"`
	// After is a record number just before the turn's first record.
	After uint64 `json:"after"`
	// EndedAt is when its stop went on record.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// Outcome is how the turn ended; "" before that.
	Outcome trace.Outcome `json:"outcome,omitempty"`
	// Undelivered says that somebody's stream of it was cut before its end.
	Undelivered bool `json:"undelivered,omitempty"`
	// AgentInitiated says that the agent began the turn, without a prompt of this gateway's users.
	AgentInitiated bool `json:"agent_initiated,omitempty"`
	// Held says that the turn has not begun, and begins when a person continues the queue. No
	// gateway has such a turn in memory.
	Held bool `json:"held,omitempty"`
}

// State says in a word what a session does.
type State string

// The states of a session.
const (
	Idle    State = "idle"
	Running State = "running"
	Paused  State = "paused"
	// Failed is no state of a session: a Selection chooses by it.
	Failed State = "failed"
)

// MaxID is the longest session id, in bytes.
const MaxID = 200

// CheckID returns an error of one sentence when the id cannot name a session.
func CheckID(id string) error {
	switch {
	case id == "":
		return &ChoiceError{"the session id is missing: send it as `id`"}
	case len(id) > MaxID:
		return &ChoiceError{fmt.Sprintf("the session id is longer than %d bytes: use a shorter one", MaxID)}
	case !utf8.ValidString(id) || strings.ContainsRune(id, utf8.RuneError): // a decoder of JSON makes U+FFFD of bytes that are not UTF-8
		return &ChoiceError{"the session id is not valid UTF-8: use letters and digits"}
	case strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }):
		return &ChoiceError{"the session id holds a character that cannot be printed: use letters and digits"}
	case id == "." || id == "..":
		return &ChoiceError{"a session id cannot be . or ..: use letters and digits"}
	}
	return nil
}

var encoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding) //nolint:gochecknoglobals // a constant in all but name

// newID returns an id that sorts by time and cannot be guessed.
func newID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16) //nolint:gosec // milliseconds since 1970 fit 48 bits
	_, _ = rand.Read(b[6:])                                        // never fails, see crypto/rand
	return encoding.EncodeToString(b[:])
}

// title makes a session's title of the beginning of its first prompt: that may be
// long, and each follower of the session's events has the title made.
func title(texts ...string) string {
	const longest = 60
	var all []rune
	for _, text := range texts {
		gap := true
		for _, r := range text {
			if unicode.IsSpace(r) {
				gap = true
				continue
			}
			if gap && len(all) > 0 {
				all = append(all, ' ')
			}
			all, gap = append(all, r), false
			if len(all) > longest {
				return strings.TrimSpace(string(all[:longest-1])) + "…"
			}
		}
	}
	return string(all)
}

// titled is the title of a session that begins with the message.
func titled(m trace.UserMessage) string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == trace.InputText {
			texts = append(texts, p.Text)
		}
	}
	return title(texts...)
}
