package permission_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/trace"
)

func TestFromApproval(t *testing.T) {
	t.Parallel()
	all := options()
	for _, c := range []struct {
		name     string
		options  []trace.PermissionOption
		approved bool
		want     trace.PermissionResponse
		fails    string
	}{
		{"yes", all, true, trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "2", OptionKind: trace.AllowOnce}, ""},
		{"no", all, false, trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "4", OptionKind: trace.RejectOnce}, ""},
		{"yes without once", all[:1], true, trace.PermissionResponse{}, `"1" (Always, allow_always)`},
		{"no without once", all[:3], false, trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "3", OptionKind: trace.RejectAlways}, ""},
		{"no without any", all[:2], false, trace.PermissionResponse{Outcome: trace.Canceled}, ""},
		{"yes, no options", nil, true, trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.AllowOnce}, ""},
		{"no, no options", nil, false, trace.PermissionResponse{Outcome: trace.Selected, OptionKind: trace.RejectOnce}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := permission.FromApproval(c.options, c.approved, "because")
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Fatalf("error %v, want one that names %s", err, c.fails)
				}
				return
			}
			c.want.Reason = "because"
			if err != nil || !same(got, c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// An "always" is offered once, under one name, where it would be a grant. Where the agent offers
// no once, the "always" is the agent's own.
func TestOffer(t *testing.T) {
	t.Parallel()
	grant := permission.Grant{Tool: "bash"}
	all := append(options(), trace.PermissionOption{ID: "5", Name: "Always allow all edits", OptionKind: trace.AllowAlways})
	always := trace.PermissionOption{ID: "1", Name: "Always allow", OptionKind: trace.AllowAlways}
	for name, c := range map[string]struct {
		options []trace.PermissionOption
		grant   permission.Grant
		want    []trace.PermissionOption
	}{
		"two that last":                 {all, grant, append([]trace.PermissionOption{always}, all[1:4]...)},
		"a rule asks":                   {all, permission.Grant{}, all[1:4]},
		"no once":                       {[]trace.PermissionOption{all[4], all[3]}, grant, []trace.PermissionOption{all[4], all[3]}},
		"no once, where a rule asks":    {[]trace.PermissionOption{all[4], all[3]}, permission.Grant{}, all[3:4]},
		"nothing lasts, nothing is new": {all[1:4], grant, all[1:4]},
	} {
		if got := permission.Offer(c.options, c.grant); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func same(a, b trace.PermissionResponse) bool {
	return a.Outcome == b.Outcome && a.ChosenOption == b.ChosenOption && a.OptionKind == b.OptionKind && a.Reason == b.Reason
}

func TestFromOption(t *testing.T) {
	t.Parallel()
	twice := append(options(), trace.PermissionOption{ID: "YES", Name: "2", OptionKind: trace.AllowOnce})
	for _, c := range []struct {
		options []trace.PermissionOption
		option  string
		want    string
	}{
		{options(), "1", "1"},
		{options(), " always ", "1"},
		{options(), "NO", "4"},
		{options(), "reject_once", "4"},
		{options(), "", ""},
		{options(), "maybe", ""},
		{nil, "yes", ""},
		{twice, "2", "2"},            // the id comes before the name
		{twice, "yes", "YES"},        // so it does in any case
		{twice, "allow_once", ""},    // two options are of that kind
		{twice, "allow_always", "1"}, //
	} {
		got, err := permission.FromOption(c.options, c.option, "")
		if got.ChosenOption != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q gives %+v, %v, want option %q", c.option, got, err, c.want)
		}
		if err != nil && c.options != nil && !strings.Contains(err.Error(), `"4" (No, reject_once)`) {
			t.Errorf("the error %q does not name the options", err)
		}
	}
}

func TestFromText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"yes": "2", "Yes!": "2", " allow ": "2", "OK.": "2", "no": "4", "Deny": "4", "2": "2",
		"always": "", "never": "", "1": "", "allow_always": "", "": "", "...": "",
		"yes, but only the first": "", "no idea": "", "what does it do?": "",
	} {
		got, ok := permission.FromText(options(), text)
		if ok != (want != "") || got.ChosenOption != want {
			t.Errorf("%q gives %+v, %v, want option %q", text, got, ok, want)
		}
	}
	if got, ok := permission.FromText(options()[:1], "yes"); ok {
		t.Errorf("yes became %+v", got)
	}
}
