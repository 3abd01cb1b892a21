package gateway

import (
	"encoding/json"
	"net/http"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway/cluster"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
)

// This file has the routes that answer requests.

// permit answers a permission request while its turn waits.
func (g *gateway) permit(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Option    string          `json:"option"`
		Approved  *bool           `json:"approved"`
		Reason    string          `json:"reason"`
		Input     json.RawMessage `json:"updated_input"`
		Interrupt bool            `json:"interrupt"`
	}
	if err := g.authz.MayPermit(r); err != nil {
		return err
	}
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	if _, err := requestKey(r); err != nil {
		return err
	}
	if body.Option != "" && body.Approved != nil { // they may say the opposite of each other
		return refusal.Malformed("Send `approved` or `option`, not both.")
	}
	response, err := g.Hub.Permit(r.Context(), r.PathValue("id"), r.PathValue("request"), g.sender(r), session.Choice{
		Option: body.Option, Approved: body.Approved, Reason: body.Reason, Input: body.Input, Interrupt: body.Interrupt,
	})
	return writeResult(w, response, err)
}

// answer answers a question while its turn waits.
func (g *gateway) answer(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Value json.RawMessage `json:"value"`
	}
	if err := g.readAuthorizedJSON(w, r, &body); err != nil {
		return err
	}
	if _, err := requestKey(r); err != nil {
		return err
	}
	values, err := readValues(body.Value)
	if err != nil {
		return err
	}
	answer, err := g.Hub.Answer(r.Context(), r.PathValue("id"), r.PathValue("request"), g.sender(r), values)
	return writeResult(w, answer, err)
}

// sender is the person who answers by a request. The server of the agent
// PassThrough has judged a pass-through token.
func (g *gateway) sender(r *http.Request) session.Sender {
	return session.Sender{Key: r.Header.Get(cluster.KeyHeader), By: caller(r), Caller: agent.Caller{Bearer: g.authz.Bearer(r.Context(), g.PassThrough), Traceparent: traceparent(r.Header)}}
}

// readValues reads one answer, or a list of them.
func readValues(raw json.RawMessage) ([]string, error) {
	var one string
	var many []string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, refusal.Malformed("The answer is missing: send it as `value`.")
	case json.Unmarshal(raw, &one) == nil:
		return []string{one}, nil
	case json.Unmarshal(raw, &many) == nil:
		return many, nil
	}
	return nil, refusal.Malformed("`value` must be a string, or a list of strings.")
}
