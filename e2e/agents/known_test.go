//go:build linux

package agents_test

// A difference is what is known of one agent, and why its Trace cannot have the
// shape of the others.
type difference struct {
	shape string
	why   string
}

// known are the differences, by agent and script.
func known() map[string]map[string]difference {
	return map[string]map[string]difference{}
}

// expected is the shape that an agent's turn has, and why it differs if it does.
func expected(agent string, s script) (shape, why string) {
	if d, ok := known()[agent][s.name]; ok {
		return d.shape, because(d.why)
	}
	return s.shape, ""
}

// asksNobody are the agents that run every call without asking.
func asksNobody() []string { return []string{"pi"} }

// exempt says that an agent makes the file that was to be refused.
func exempt(agent string, s script) bool {
	for _, name := range asksNobody() {
		if name == agent && s.missing != "" {
			return true
		}
	}
	return false
}
