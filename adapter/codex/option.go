package codex

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/agent/agentkit"
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

func newOption(id, name string, kind trace.OptionKind, reply object) option {
	return option{trace.PermissionOption{ID: id, Name: name, OptionKind: kind}, agentkit.Encode(reply)}
}

// choose returns the first option that fits, or the one that declines.
func choose(options []option, fits func(option) bool) option {
	i := slices.IndexFunc(options, fits)
	if i < 0 {
		i = slices.IndexFunc(options, func(o option) bool { return o.ID == declineID })
	}
	return options[i]
}

// answer is the option that an answer means. Codex cannot run a call with another input
// than its own, so a permission for another input declines.
func answer(options []option, r trace.PermissionResponse) option {
	id := r.ChosenOption
	switch {
	case r.Interrupt || r.Outcome == trace.Canceled:
		id = cancelID
	case r.Outcome != trace.Selected || len(r.UpdatedInput) > 0:
		id = declineID
	}
	return choose(options, func(o option) bool { return o.ID == id })
}

// given is the option that a reply on record means. Other clients of Codex give replies that
// Codex has not offered, and that it takes all the same.
func given(options []option, reply raw) option {
	if i := slices.IndexFunc(options, func(o option) bool { return agentkit.SameJSON(o.reply, reply) }); i >= 0 {
		return options[i]
	}
	var r struct {
		Decision    raw
		Action      string
		Permissions map[string]raw
		Scope       string
		Meta        struct{ Persist string } `json:"_meta"`
	}
	_ = parse(reply, &r) // a reply of another form allows nothing
	if o := offer(r.Decision); o.ID != "" {
		return o
	}
	id, _ := word(r.Decision)
	id = cmp.Or(id, r.Action)
	if len(r.Permissions) > 0 {
		id = "accept"
	}
	plain := strings.ToLower(id)
	lasts := strings.Contains(plain, "session") || strings.Contains(plain, "always") || r.Scope == "session" || r.Meta.Persist != ""
	switch {
	case plain == cancelID || plain == "abort":
		return newOption(cancelID, "Deny and stop", trace.RejectOnce, object{})
	case !strings.HasPrefix(plain, "accept") && !strings.HasPrefix(plain, "approve") && !strings.HasPrefix(plain, "allow"):
		return choose(options, func(option) bool { return false })
	case lasts && id == "accept":
		return newOption("acceptForSession", "Allow for this session", trace.AllowAlways, object{})
	case lasts:
		return newOption(id, "Always allow", trace.AllowAlways, object{})
	}
	return newOption(id, "Allow once", trace.AllowOnce, object{})
}

// offer is a decision for people; the zero option if it is not known.
func offer(decision raw) option {
	id, more := word(decision)
	var m struct {
		Command []string                      `json:"execpolicy_amendment"`
		Network struct{ Host, Action string } `json:"network_policy_amendment"`
	}
	_ = parse(more, &m) // a decision of another form is not known
	name, kind := "Always allow ", trace.AllowAlways
	switch {
	case id == "accept":
		name, kind = "Allow once", trace.AllowOnce
	case id == "acceptForSession":
		name = "Allow for this session"
	case id == cancelID:
		name, kind = "Deny and stop", trace.RejectOnce
	case id == "acceptWithExecpolicyAmendment" && m.Command != nil:
		name += strings.Join(m.Command, " ")
	case id == "applyNetworkPolicyAmendment" && m.Network.Action == "allow":
		id, name = "allowNetwork", name+m.Network.Host
	case id == "applyNetworkPolicyAmendment":
		id, name, kind = "denyNetwork", "Always deny "+m.Network.Host, trace.RejectAlways
	default:
		return option{}
	}
	return newOption(id, name, kind, object{"decision": decision})
}

// decisions are the options that the agent offers. Declining is always possible, and
// stands before canceling: a person who says no does not thereby end the turn.
func decisions(offered []raw) []option {
	if offered == nil {
		offered = []raw{raw(`"accept"`), raw(`"acceptForSession"`), raw(`"cancel"`)}
	}
	var allow, reject, stop []option
	for _, data := range offered {
		switch o := offer(data); {
		case o.ID == cancelID:
			stop = append(stop, o)
		case o.OptionKind == trace.RejectAlways:
			reject = append(reject, o)
		case o.ID != "":
			allow = append(allow, o)
		}
	}
	decline := newOption(declineID, "Deny", trace.RejectOnce, object{"decision": declineID})
	return slices.Concat(allow, []option{decline}, reject, stop)
}

// grants are the options for permissions of the sandbox.
func grants(asked raw) []option {
	return []option{
		newOption("accept", "Allow for this turn", trace.AllowOnce, object{"permissions": asked, "scope": "turn"}),
		newOption("acceptForSession", "Allow for this session", trace.AllowAlways, object{"permissions": asked, "scope": "session"}),
		newOption(declineID, "Deny", trace.RejectOnce, object{"permissions": object{}}),
	}
}

// toolGrants are the options for a tool of an MCP server. persist, a word or a list,
// says for how long the agent can remember a yes.
func toolGrants(persist raw) []option {
	terms := make([]string, 1)
	if json.Unmarshal(persist, &terms[0]) != nil {
		_ = json.Unmarshal(persist, &terms) // another form offers nothing
	}
	all := []option{newOption("accept", "Allow once", trace.AllowOnce, object{"action": "accept", "content": object{}})}
	names := map[string]string{"session": "Allow for this session", "always": "Allow always"}
	for _, term := range terms {
		if name := names[term]; name != "" {
			all = append(all, newOption("accept-"+term, name, trace.AllowAlways, object{"action": "accept", "content": object{}, "_meta": object{"persist": term}}))
		}
	}
	return append(all,
		newOption(declineID, "Deny", trace.RejectOnce, object{"action": "decline"}),
		newOption(cancelID, "Deny and stop", trace.RejectOnce, object{"action": "cancel"}))
}
