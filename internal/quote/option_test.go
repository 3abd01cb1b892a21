package quote_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/quote"
)

//evidence:for promise-shown
func TestAnOptionSaysWhatItsKindDoes(t *testing.T) {
	t.Parallel()
	for kind, names := range map[string][]string{
		"allow_once":    {"Allow", "allow once", "Approve", "Accept", "Yes", "Yes, and don't ask again"},
		"allow_always":  {"Always allow git push", "Allow for this session", "ALLOW ALL"},
		"reject_once":   {"Deny", "Reject", "No", "No, and tell the agent what to do", "Deny and stop", "Decline"},
		"reject_always": {"Always deny", "Always reject"},
		"novel":         {"Deny", "Allow"},
		"":              {"Deny", "Allow", ""},
	} {
		for _, name := range names {
			if got := quote.Option(name, kind); got != name {
				t.Errorf("%q of the kind %s is %q", name, kind, got)
			}
		}
	}
	for _, kind := range []string{"allow_once", "allow_always", "reject_once", "reject_always"} {
		names, effect := []string{"Deny", "No", "Reject it", "Always deny", "Allow nothing: deny", "Yes, reject"}, "allows: "
		if strings.HasPrefix(kind, "reject") {
			names, effect = []string{"Allow", "Yes", "Approve", "Always allow", "Deny nothing: allow"}, "denies: "
		}
		for _, name := range append(names, "", "Always", "Cancel", "Go on", "Al\u200blow", "De\u200bny", "\u0410llow", "Allow\u0301", "Noon", "Don't allow", "denies: x", "allows: x") {
			if got := quote.Option(name, kind); got != effect+name {
				t.Errorf("%q of the kind %s is %q", name, kind, got)
			}
		}
	}
}
