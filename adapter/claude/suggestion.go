package claude

import (
	"encoding/json"
	"strings"
)

// suggestion is a change of Claude Code's own rules, often wider than the call that
// is asked about.
type suggestion struct {
	Type        string   `json:"type"`
	Mode        string   `json:"mode"`
	Directories []string `json:"directories"`
	Rules       []struct {
		Tool    string `json:"toolName"`
		Content string `json:"ruleContent"`
	} `json:"rules"`
}

// longestAlways bounds the name of an option.
const longestAlways = 200

// alwaysName says what "allow always" allows, so that a person does not give more than
// they mean to.
func alwaysName(suggestions []raw) string {
	var what []string
	for _, chosen := range always(suggestions) {
		var s suggestion
		_ = json.Unmarshal(chosen, &s) // one of another form is named by its type alone
		switch {
		case s.Type == "setMode" && s.Mode == "acceptEdits":
			what = append(what, "all edits")
		case s.Type == "setMode":
			what = append(what, "all that the mode "+s.Mode+" allows")
		case s.Type == "addDirectories":
			what = append(what, "files in "+strings.Join(s.Directories, ", "))
		case len(s.Rules) == 0:
			what = append(what, s.Type)
		}
		for _, r := range s.Rules {
			rule := r.Tool
			if r.Content != "" {
				rule += "(" + r.Content + ")"
			}
			what = append(what, rule)
		}
	}
	name := []rune(strings.Join(what, " and "))
	if len(name) > longestAlways {
		name = append(name[:longestAlways], '…')
	}
	return "Always allow " + string(name) + ", in this session"
}
