package agentops

import (
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	frames "github.com/tributary-dev/tributary/export/agentops"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/trace"
)

// Prompt takes a prompt by HTTP, or stops the turn that runs. An error is for the caller to
// answer with.
func (s *Server) Prompt(w http.ResponseWriter, r *http.Request) error {
	a, err := s.Gateway.Admit(r, r.PathValue("id"))
	if err != nil {
		return err
	}
	defer a.Leave()
	defer a.Upload(0) //nolint:errcheck // less memory is always granted
	length := r.ContentLength
	if length < 0 { // the client does not say
		length = maxFrame
	}
	if err := a.Upload(length); err != nil {
		return err
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFrame))
	var in struct {
		wire.Prompt
		Interrupt bool `json:"interrupt"`
	}
	if err != nil || json.Unmarshal(data, &in) != nil {
		return refusal.Malformed("The prompt is no JSON object, or is too large.")
	}
	var f wire.Frame = in.Prompt
	if in.Interrupt && in.Content == "" && len(in.Attachments) == 0 {
		f = wire.Abort{}
	}
	c := &client{Admission: a, s: s, id: r.PathValue("id")}
	if err := c.command(r.Context(), f); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"success":true}`) // a client that has gone misses nothing
	return nil
}

// After is the parameter by which a client of Agent Ops asks for the messages since a time, in
// seconds.
const After = "after"

// Messages are the newest messages of a history since a time, as many as one answer holds.
func Messages(session, after string, records iter.Seq2[trace.Record, error]) (any, error) {
	const most = 1 << 20
	all, err := frames.Transcript(records, frames.Options{Session: session}, most)
	since, _ := strconv.ParseInt(after, 10, 64) // 0 is all
	all = slices.DeleteFunc(all, func(m wire.Message) bool { return int64(m.CreatedAt) <= since })
	return map[string]any{"messages": append([]wire.Message{}, all...)}, err
}
