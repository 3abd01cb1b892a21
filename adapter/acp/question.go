package acp

import (
	"encoding/json"
	"strconv"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/internal/form"
	"github.com/tributary-dev/tributary/internal/jsonrpc"
	"github.com/tributary-dev/tributary/trace"
)

// elicit takes the agent's questions to the user: a form, or an address to open.
func (d *Decoder) elicit(m jsonrpc.Message, t agent.Turns) ([]agent.Effect, error) {
	var p struct {
		form.Form
		Call string `json:"toolCallId"`
	}
	err := decode(m.Params, &p)
	c := d.current(t)
	if c == nil || err != nil || p.URL == "" && len(p.Schema.Properties) == 0 {
		return []agent.Effect{agent.Send{Data: reply(m.ID, object{"action": form.Cancel})}}, err
	}
	c.release("")
	if tc := c.calls[p.Call]; tc == nil || tc.done {
		p.Call = ""
	}
	p.Yes, p.No = "Done", "Decline"
	asked := p.Questions()
	for i := range asked {
		asked[i].QuestionID, asked[i].ToolCallID = "acp-"+string(m.ID)+"-"+strconv.Itoa(i+1), p.Call
	}
	a := &ask{form: &p.Form}
	a.Asked = agentkit.Ask(c.b, string(m.ID), asked, func(answers []trace.Answer) json.RawMessage {
		action, content := p.Reply(answers)
		if len(content) == 0 {
			return reply(m.ID, object{"action": action})
		}
		return reply(m.ID, object{"action": action, "content": content})
	})
	d.theirs[string(m.ID)] = their{ask: a}
	return []agent.Effect{a.Effect}, nil
}
