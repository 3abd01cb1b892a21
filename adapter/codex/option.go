package codex

import (
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// option is an answer to a permission request, and the reply to the agent that it means.
type option struct {
	trace.PermissionOption
	reply raw
}

// The options that every approval has, or may have.
const (
	declineID = "decline"
	cancelID  = "cancel"
)

// decision is a word, or an object with the one key that is the word.
type decision struct {
	Command *struct {
		Amendment []string `json:"execpolicy_amendment"`
	} `json:"acceptWithExecpolicyAmendment"`
	Network *struct {
		Amendment struct {
			Host   string `json:"host"`
			Action string `json:"action"`
		} `json:"network_policy_amendment"`
	} `json:"applyNetworkPolicyAmendment"`
}

// decisions are the options that the agent offers. Declining is always possible, and
// stands before canceling: who says no does not thereby end the turn.
func decisions(offered []raw) []option {
	if offered == nil {
		offered = []raw{raw(`"accept"`), raw(`"acceptForSession"`), raw(`"cancel"`)}
	}
	var allow, reject []option
	var stop []option
	for _, o := range offered {
		reply := encode(object{"decision": o})
		var word string
		var of decision
		switch _ = json.Unmarshal(o, &word); word {
		case "accept":
			allow = append(allow, newOption(word, "Allow once", trace.AllowOnce, reply))
		case "acceptForSession":
			allow = append(allow, newOption(word, "Allow for this session", trace.AllowAlways, reply))
		case cancelID:
			stop = append(stop, newOption(word, "Deny and stop", trace.RejectOnce, reply))
		case "":
			if json.Unmarshal(o, &of) != nil {
				continue
			}
			switch {
			case of.Command != nil:
				allow = append(allow, newOption("acceptWithExecpolicyAmendment", "Always allow "+strings.Join(of.Command.Amendment, " "), trace.AllowAlways, reply))
			case of.Network != nil && of.Network.Amendment.Action == "allow":
				allow = append(allow, newOption("allowNetwork", "Always allow "+of.Network.Amendment.Host, trace.AllowAlways, reply))
			case of.Network != nil:
				reject = append(reject, newOption("denyNetwork", "Always deny "+of.Network.Amendment.Host, trace.RejectAlways, reply))
			}
		}
	}
	decline := newOption(declineID, "Deny", trace.RejectOnce, encode(object{"decision": declineID}))
	return append(append(append(allow, decline), reject...), stop...)
}

func newOption(id, name string, kind trace.OptionKind, reply raw) option {
	return option{trace.PermissionOption{ID: id, Name: name, OptionKind: kind}, reply}
}

// grants are the options for permissions of the sandbox.
func grants(asked raw) []option {
	return []option{
		newOption("accept", "Allow for this turn", trace.AllowOnce, encode(object{"permissions": orNull(asked), "scope": "turn"})),
		newOption("acceptForSession", "Allow for this session", trace.AllowAlways, encode(object{"permissions": orNull(asked), "scope": "session"})),
		newOption(declineID, "Deny", trace.RejectOnce, encode(object{"permissions": object{}})),
	}
}

// toolGrants are the options for a tool of an MCP server. persist says for how long the
// agent can remember a yes.
func toolGrants(persist []string) []option {
	all := []option{newOption("accept", "Allow once", trace.AllowOnce, encode(object{"action": "accept", "content": object{}}))}
	names := map[string]string{"session": "Allow for this session", "always": "Allow always"}
	for _, p := range persist {
		if name := names[p]; name != "" {
			all = append(all, newOption("accept-"+p, name, trace.AllowAlways, encode(object{"action": "accept", "content": object{}, "_meta": object{"persist": p}})))
		}
	}
	return append(all,
		newOption(declineID, "Deny", trace.RejectOnce, encode(object{"action": "decline"})),
		newOption(cancelID, "Deny and stop", trace.RejectOnce, encode(object{"action": "cancel"})))
}
