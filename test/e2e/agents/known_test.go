//go:build linux

package agents_test

import "time"

// endless is how long a turn that does not end by itself is let run. The first one starts the agent: see patience.
const endless = 120 * time.Second

// A difference is what is known of one agent, and why its Trace cannot have the
// shape of the others.
type difference struct {
	shape   string
	why     string
	limit   time.Duration // after which the turn is stopped
	skip    bool          // the script is not played
	free    bool          // its order depends on time
	refused bool          // the agent does not make the file
	silent  bool          // the agent does not say the text
	// nextMinute says that the script is played in another minute than the one before.
	nextMinute bool
}

// Reasons that several agents share.
const (
	asksNobody  = "it runs every command and asks nobody"
	hidesErrors = "it ends the turn as if nothing had happened"
	endsOnDeny  = "a refusal ends its turn"
	asksAlways  = "it asks for every command; the order depends on time"
)

// known are the differences, by agent and script.
func known() map[string]map[string]difference {
	const noRequest = "message tool_call tool_result:completed message stop:completed"
	return map[string]map[string]difference{
		"claude-acp": {
			"parallel": {free: true, why: asksAlways},
		},
		"codex-acp": {
			"deny": {shape: "message tool_call permission_request permission_response:reject tool_result:denied stop:canceled", why: endsOnDeny},
		},
		"gemini": {
			"resume": {shape: answered, why: "it loses a session that it loads in the minute in which the session began", nextMinute: true},
		},
		"goose": {
			"parallel": {free: true, why: asksAlways},
		},
		"cline": {
			"parallel": {free: true, why: asksAlways},
		},
		"qwen": {
			"parallel": {free: true, why: asksAlways},
			"deny":     {shape: "message tool_call permission_request permission_response:reject tool_result:denied stop:completed", why: endsOnDeny},
		},
		"copilot": {
			"parallel": {free: true, why: asksAlways},
			"write":    {shape: "message tool_call permission_request permission_response:allow message tool_result:completed message stop:completed", why: "it says in a message of its own what it has written"},
		},
		"kimi": {
			"parallel":            {free: true, why: asksAlways},
			"error in mid-stream": {shape: "message stop:completed", why: hidesErrors},
		},
		"kilo": {
			"parallel": {free: true, why: asksAlways},
			"question": {skip: true, why: "its question waits, and nobody is asked"},
		},
		"openai": {
			"parallel": {free: true, why: asksAlways},
		},
		"pi": {
			"allow":               {shape: noRequest, why: asksNobody},
			"deny":                {shape: noRequest, why: asksNobody},
			"write":               {shape: noRequest, why: asksNobody},
			"stop at a request":   {shape: noRequest, why: asksNobody},
			"error in mid-stream": {shape: "message stop:completed", why: hidesErrors},
			"always":              {shape: noRequest, why: asksNobody},
		},
		"opencode": {
			"parallel":            {free: true, why: asksAlways},
			"error in mid-stream": {shape: "message stop:canceled", why: "it tries again until it is stopped", limit: 5 * time.Second},
		},
		"opencode-acp": {
			"parallel":            {free: true, why: asksAlways},
			"deny":                {shape: "message tool_call permission_request permission_response:reject tool_result:denied stop:completed", why: endsOnDeny},
			"error in mid-stream": {shape: "message stop:canceled", why: "it tries again until it is stopped", limit: 5 * time.Second},
		},
	}
}

// callsHome are agents that ask a server of their maker though their settings forbid it.
// The tests' network has no such server.
func callsHome() []string { return []string{"cline"} } // for its feature flags

// textComesLate are the agents whose text may come behind the call that it
// stands before; messages do not count in their shapes.
func textComesLate() []string { return []string{"kilo"} }

// expected is the shape that an agent's turn has, and why it differs if it does.
func expected(agent string, s script) (shape, why string) {
	d := known()[agent][s.name]
	if d.free {
		return "", ""
	}
	if d.shape != "" {
		return d.shape, because(d.why)
	}
	return s.shape, ""
}

// exempt says that an agent makes the file that was to be refused.
func exempt(agent string, s script) bool {
	return s.missing != "" && known()[agent][s.name].why == asksNobody
}
