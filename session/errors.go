package session

import (
	"errors"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the errors of this package that callers know.

// Errors on which a caller acts. Each is one sentence that can be shown to a user.
var (
	ErrUnknownSession = errors.New("there is no such session")
	ErrUnknownAgent   = errors.New("there is no such agent")
	ErrUnknownMessage = errors.New("there is no such message in this session")
	ErrUnknownTurn    = errors.New("there is no such turn in this session")
	ErrNotQueued      = errors.New("this prompt does not wait any more: it runs, it has run, or it was removed")
	ErrNotYourPrompt  = errors.New("this is the prompt of another user: change only your own")
	ErrUnknownRequest = errors.New("there is no such request in this session")
	ErrTaken          = errors.New("this prompt was taken before, and has been removed or held since: load the session to see it")
	ErrKeyUsed        = errors.New("the key of this request was the key of another prompt: give each prompt a key of its own")
	ErrStale          = errors.New("this conversation has gone on elsewhere: reload to see it, then try again")
	ErrNotYours       = errors.New("this would take back what somebody else has said: send a new message instead")
	ErrEmptyPrompt    = errors.New("the message is empty: send some text or a file")
	ErrBusy           = errors.New("a turn is running: wait for its end, or stop it first")
	ErrPaused         = errors.New("this session waits for an answer to what its agent asked: answer that, or stop the turn first")
	ErrNotWaiting     = errors.New("this message is not waiting for an answer: send a new message instead")
	ErrMayNotPermit   = errors.New("your role may not answer permission requests: ask somebody whose role may")
	ErrQueueFull      = errors.New("too many prompts are waiting: wait until one of them has run, or remove one")
	ErrTooManyPrompts = errors.New("too many of your prompts run or wait: wait until one of them has ended")
	ErrLargePrompts   = errors.New("the large messages among your prompts that run or wait take up all the memory that they may: wait until one of them has ended")
	ErrLog            = eventlog.ErrUnavailable // also in the chain of each error of the Log that is not about one session
	ErrElsewhere      = errors.New("another gateway on the same database has this session: ask that one, or try again a minute after its last use there")
	ErrClosing        = errors.New("the gateway is shutting down: try again in a moment")
	ErrExists         = errors.New("a session with this id exists already")

	ErrUnknownConversation = errors.New("the agent has no such conversation in its workspace that no session has yet: list its conversations and take the `resume` of one")
)

// notLogged is the error for a caller whose request could not be put on record.
func notLogged(err error) error {
	if errors.Is(err, eventlog.ErrNotOwner) {
		return ErrElsewhere
	}
	if damaged, is := errors.AsType[*eventlog.DamageError](err); is {
		return damaged
	}
	return ErrLog
}

// elsewhere makes a sentence of the error of a write to a session that another gateway owns.
func elsewhere(err error) error {
	if errors.Is(err, eventlog.ErrNotOwner) {
		return ErrElsewhere
	}
	return err
}

// ofOneSession reports whether an error of the log is about one session, which another
// try will not change, and not about the log.
func ofOneSession(err error) bool {
	_, damaged := errors.AsType[*eventlog.DamageError](err)
	return damaged || errors.Is(err, eventlog.ErrNotOwner)
}

// CommandError says that a command needs a role that may answer permission requests.
type CommandError struct{ Name string }

// Error implements error.
func (e *CommandError) Error() string {
	what := "the command /" + e.Name
	do := "say in words what it is to do"
	switch {
	case e.Name == agent.Shell:
		what = "a message that begins with !"
	case strings.Contains(e.Name, "/"):
		what = "a message that begins with /" + e.Name
		do = "put a word in front of it if it is a path"
	}
	return "your role may not send " + what + ", because the agent may run commands for it unasked: " + do + ", or ask somebody whose role may answer permission requests"
}

// AnsweredError says that a request has its one answer: whose, and when.
type AnsweredError = trace.AnsweredError

// ChoiceError says that an answer does not fit its request.
type ChoiceError struct{ Sentence string }

// Error implements error.
func (e *ChoiceError) Error() string { return e.Sentence }
