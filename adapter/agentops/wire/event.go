package wire

import "strings"

// Direction is who sends a frame to whom.
type Direction uint8

// The directions.
const (
	ToBrowser   Direction = iota + 1 // session agent to browser
	FromBrowser                      // browser to session agent
	ToRunner                         // session agent to runner
	FromRunner                       // runner to session agent
)

// String implements fmt.Stringer.
func (d Direction) String() string {
	switch d {
	case ToBrowser:
		return "session agent to browser"
	case FromBrowser:
		return "browser to session agent"
	case ToRunner:
		return "session agent to runner"
	case FromRunner:
		return "runner to session agent"
	}
	return "unknown direction"
}

// Event is a type of frame that is known.
type Event struct {
	Type      string
	Direction Direction
	// Answer is the type of the frame that answers a runner's request; "" where
	// nobody waits for one.
	Answer string
}

// Lookup finds a type of frame among those that are known.
func Lookup(d Direction, typ string) (Event, bool) {
	e, ok := events[key{d, typ}]
	return e, ok
}

// Events returns every type of frame that is known, in no order.
func Events() []Event {
	all := make([]Event, 0, len(events))
	for _, e := range events {
		all = append(all, e)
	}
	return all
}

// AnswerType is the type of the frame that answers a runner's request, also one
// that is not known.
func AnswerType(request string) string {
	if e, ok := Lookup(FromRunner, request); ok && e.Answer != "" {
		return e.Answer
	}
	return request + resultSuffix
}

const resultSuffix = "-result"

type key struct {
	d   Direction
	typ string
}

// events is the table of all that was ever sent.
var events = table() //nolint:gochecknoglobals // never written

func table() map[key]Event {
	all := map[key]Event{}
	add := func(d Direction, types string) {
		for typ := range strings.FieldsSeq(types) {
			all[key{d, typ}] = Event{Type: typ, Direction: d}
		}
	}
	add(ToBrowser, `
		init models message message.updated messages.removed stream chunk status pong error
		user.joined user.left agentStatus diff review-result command-result git-state pr-created
		files-changed child-session title audit_log model-switched toast
		integration-auth-required thread.created thread.updated queue.state queue.withdrawn
		interactive_prompt interactive_prompt_resolved interactive_prompt_expired`)

	add(FromBrowser, `
		prompt answer ping abort revert diff review command approve-action deny-action
		queue.withdraw queue.promote queue.replace`)

	add(ToRunner, `
		prompt answer stop abort revert diff review opencode-command pong init opencode-config
		workflow-execute tunnel-delete new-session call-tool-pending plugin-content repo-config
		repo-token-refreshed`)

	add(FromRunner, `
		stream result tool
		question screenshot error complete agentStatus models aborted reverted diff review-result
		command-result ping git-state pr-created files-changed child-session title self-terminate
		workflow-execution-result workflow-chat-message model-switched tunnels audio-transcript
		channel-session-created session-reset opencode-config-applied
		message.create message.part.text-delta message.part.tool-update message.finalize
		thread.created thread.updated usage-report analytics:emit wait-subscription runner-health
		repo:clone-complete`)

	request := func(types string) {
		add(FromRunner, types)
		for typ := range strings.FieldsSeq(types) {
			e := all[key{FromRunner, typ}]
			e.Answer = typ + resultSuffix
			all[key{FromRunner, typ}] = e
			add(ToRunner, e.Answer)
		}
	}
	request(`
		create-pr update-pr list-pull-requests inspect-pull-request spawn-child session-message
		session-messages terminate-child list-personas list-channels get-session-status
		list-child-sessions forward-messages read-repo-file workflow-list workflow-sync workflow-run
		workflow-executions workflow-api trigger-api execution-api mailbox-send mailbox-check
		task-create task-list task-update task-my channel-reply
		memory-read memory-write memory-delete list-repos
		mem-read mem-write mem-patch mem-rm mem-search list-tools call-tool skill-api persona-api
		identity-api`)
	refresh := key{FromRunner, "repo:refresh-token"}
	all[refresh] = Event{Type: refresh.typ, Direction: FromRunner, Answer: "repo-token-refreshed"}
	return all
}
