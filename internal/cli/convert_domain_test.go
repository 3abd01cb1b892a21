package cli

import (
	"regexp"
	"slices"
	"testing"
)

// Events beside the conversation are shown on request, by the same list of names as the
// server has.
func TestD15_ConvertShowsEventsOfTheAgentsWorld(t *testing.T) {
	t.Parallel()
	const file = "../../test/recordings/agentops/head-browser-only.jsonl"
	shown := func(args ...string) []string {
		t.Helper()
		got := command(t, "", append(append([]string{"convert", "--from", "agentops"}, args...), file)...)
		got.want(t, exitOK, "")
		var names []string
		for _, m := range regexp.MustCompile(`"type":"data-([a-z-]+)"`).FindAllStringSubmatch(got.out, -1) {
			if m[1] != "agent-status" && !slices.Contains(names, m[1]) { // which is of the conversation
				names = append(names, m[1])
			}
		}
		slices.Sort(names)
		return names
	}
	all := shown("--domain-events", "all")
	if none := shown(); len(none) != 0 || len(all) < 2 {
		t.Fatalf("%q without the switch, %q with all", none, all)
	}
	if one := shown("--domain-events", all[0]); !slices.Equal(one, all[:1]) {
		t.Errorf("%q", one)
	}
	if two := shown("--domain-events", all[0]+","+all[1], "--compat", "rfc"); !slices.Equal(two, all[:2]) {
		t.Errorf("%q", two)
	}
	for list, says := range map[string]string{
		"weather":     `--domain-events holds "weather": write all, or some of approval`,
		"all,title":   "--domain-events holds all beside other names",
		"title,title": "--domain-events holds title twice",
	} {
		command(t, "", "convert", "--from", "agentops", "--domain-events", list, file).want(t, exitUsage, says)
	}
}
