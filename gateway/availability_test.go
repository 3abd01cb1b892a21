package gateway_test

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/eventlog/memlog"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

// The list of agents says which of them can start, and why another cannot.
func TestTheListOfAgentsSaysWhichCanStart(t *testing.T) {
	known := gateway.Availability{}
	inProcess := func(o *session.Options) {
		demo := o.Agents["demo"]
		demo.InProcess = true
		o.Agents["demo"] = demo
	}
	s := newStandOn(t, memlog.New(), inProcess, func(o *gateway.Options) {
		o.Availability = func(string) gateway.Availability { return known }
		o.Users = map[string][]access.Who{"demo": {{Role: access.Collaborator}}}
	})
	for _, c := range []struct {
		is         gateway.Availability
		role, want string
	}{
		{gateway.Availability{}, "collaborator", `{"name":"demo","default":true,"files":false}`},
		{gateway.Availability{Known: true, Available: true, Version: "1.2"}, "collaborator", `{"name":"demo","default":true,"available":true,"version":"1.2","files":false}`},
		{gateway.Availability{Known: true, Reason: "it is not installed"}, "collaborator", `{"name":"demo","default":true,"available":false,"reason":"it is not installed","files":false}`},
		{gateway.Availability{Known: true, Available: true}, "viewer", `{"name":"demo","default":true,"available":false,"reason":"Your role is viewer; the agent demo is for collaborator.","files":false}`},
	} {
		known = c.is
		if _, _, body := s.do("GET", "/api/agents", "", as("ada", c.role)...); strings.TrimSpace(body) != `{"agents":[`+c.want+`]}` {
			t.Errorf("%+v: %s", c.is, body)
		}
	}
}
