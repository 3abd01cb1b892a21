package permission

import (
	"fmt"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// FromApproval makes an answer of a plain yes or no. Yes is the option that allows once.
// Without such an option yes is an error, because a plain yes does not mean "always". No
// is the option that rejects once, or else the option that rejects for good, or else a
// withdrawal: a no must always be possible. The answer to a request without options has
// the kind and no option.
func FromApproval(options []trace.PermissionOption, approved bool, reason string) (trace.PermissionResponse, error) {
	if approved {
		if answer, ok := choose(options, trace.AllowOnce, reason); ok {
			return answer, nil
		}
		return trace.PermissionResponse{}, fmt.Errorf("this request has no option that allows once: choose one of %s", names(options))
	}
	for _, kind := range []trace.OptionKind{trace.RejectOnce, trace.RejectAlways} {
		if answer, ok := choose(options, kind, reason); ok {
			return answer, nil
		}
	}
	return trace.PermissionResponse{Outcome: trace.Canceled, Reason: reason}, nil
}

// Once reports whether a request offers to allow once. An agent that does not keeps an "always" itself.
func Once(options []trace.PermissionOption) bool {
	_, ok := choose(options, trace.AllowOnce, "")
	return ok
}

// choose takes the first option of a kind.
func choose(options []trace.PermissionOption, kind trace.OptionKind, reason string) (trace.PermissionResponse, bool) {
	answer := trace.PermissionResponse{Outcome: trace.Selected, OptionKind: kind, Reason: reason}
	if len(options) == 0 {
		return answer, true
	}
	for _, o := range options {
		if o.OptionKind == kind {
			answer.ChosenOption = o.ID
			return answer, true
		}
	}
	return trace.PermissionResponse{}, false
}

// FromOption makes an answer of an option that a person has named: by the option's id, else
// by its name, else by a kind that only one option has.
func FromOption(options []trace.PermissionOption, option, reason string) (trace.PermissionResponse, error) {
	option = strings.TrimSpace(option)
	for _, is := range []func(trace.PermissionOption) bool{
		func(o trace.PermissionOption) bool { return o.ID == option },
		func(o trace.PermissionOption) bool { return strings.EqualFold(o.ID, option) },
		func(o trace.PermissionOption) bool { return strings.EqualFold(o.Name, option) },
		func(o trace.PermissionOption) bool { return strings.EqualFold(string(o.OptionKind), option) },
	} {
		if o, ok := only(options, is); ok {
			return trace.PermissionResponse{
				Outcome: trace.Selected, ChosenOption: o.ID, OptionKind: o.OptionKind, Reason: reason,
			}, nil
		}
	}
	return trace.PermissionResponse{}, fmt.Errorf("there is no option %.60q in this request: choose one of %s", option, names(options))
}

func only(options []trace.PermissionOption, is func(trace.PermissionOption) bool) (found trace.PermissionOption, ok bool) {
	for _, o := range options {
		if !is(o) {
			continue
		}
		if ok {
			return trace.PermissionOption{}, false
		}
		found, ok = o, true
	}
	return found, ok
}

// FromText makes an answer of a typed text that is an answer and nothing else: yes, allow,
// no, deny and the like, or an option's name. A typed text never means "always": only a
// chosen option does.
func FromText(options []trace.PermissionOption, text string) (trace.PermissionResponse, bool) {
	word := strings.ToLower(strings.Trim(strings.TrimSpace(text), ".!"))
	switch word {
	case "":
		return trace.PermissionResponse{}, false
	case "yes", "y", "ok", "allow", "approve", "approved":
		answer, err := FromApproval(options, true, "")
		return answer, err == nil
	case "no", "n", "deny", "denied", "reject":
		answer, err := FromApproval(options, false, "")
		return answer, err == nil
	}
	answer, err := FromOption(options, word, "")
	if err != nil || answer.OptionKind == trace.AllowAlways || answer.OptionKind == trace.RejectAlways {
		return trace.PermissionResponse{}, false
	}
	return answer, true
}

func names(options []trace.PermissionOption) string {
	if len(options) == 0 {
		return "yes and no, it has no options"
	}
	list := make([]string, len(options))
	for i, o := range options {
		list[i] = fmt.Sprintf("%q (%s, %s)", o.ID, o.Name, o.OptionKind)
	}
	return strings.Join(list, ", ")
}
