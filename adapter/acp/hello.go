package acp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// hello is the agent's reply to initialize.
type hello struct {
	Version int `json:"protocolVersion"`
	Info    struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	Can struct {
		Load   bool `json:"loadSession"`
		Prompt struct {
			Image   bool `json:"image"`
			Audio   bool `json:"audio"`
			Context bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		Session struct {
			Resume *raw `json:"resume"`
			Close  *raw `json:"close"`
			List   *raw `json:"list"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	AuthMethods []authMethod `json:"authMethods"`
}

// authMethod is a way to log in.
type authMethod struct {
	ID   string   `json:"id"`
	Name string   `json:"name"`
	Type string   `json:"type"`
	Args []string `json:"args"`
}

// is reports whether the agent is one of a family, by the name that it gives itself.
func (h hello) is(family string) bool { return strings.Contains(strings.ToLower(h.Info.Name), family) }

func (h hello) offers(method string) bool {
	return slices.ContainsFunc(h.AuthMethods, func(m authMethod) bool { return m.ID == method })
}

// login adds to an error how a person logs in.
func (h hello) login(problem string) string {
	var ways []string
	for _, m := range h.AuthMethods {
		way := fmt.Sprintf("%q (%s)", m.ID, cmp.Or(m.Name, m.ID))
		if m.Type == "terminal" && len(m.Args) > 0 {
			way += ", by running the agent with `" + strings.Join(m.Args, " ") + "` in a terminal"
		}
		ways = append(ways, way)
	}
	advice := "Log in by running the agent once in a terminal, or give it a key in `env`."
	if len(ways) > 0 {
		advice += " Its methods of logging in, for the option auth_method: " + strings.Join(ways, "; ") + "."
	}
	return strings.TrimSpace(problem + " " + advice)
}
