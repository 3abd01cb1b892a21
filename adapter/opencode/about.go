package opencode

import (
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// This file says which agent it is and with which model, and what its failures are.

// version notes which OpenCode works: the server's own word, or a session that it has just begun.
// A session that was begun earlier may have been begun by an older one.
func (d *Decoder) version(i info, t agent.Turns) {
	if i.Version != "" && i.ParentID == "" {
		t.Note(trace.AgentInfo{Product: d.product, Version: i.Version}.Payload())
	}
}

// spoke notes the model of a message, if it is another than that of the message before. The model that
// sums up the conversation is not the one that answers.
func (d *Decoder) spoke(i info, t agent.Turns) {
	if now := (trace.AgentInfo{Provider: i.ProviderID, Model: i.ModelID}); i.ModelID != "" && string(i.Summary) != "true" &&
		(now.Provider != d.model.Provider || now.Model != d.model.Model) {
		d.model = now
		t.Note(now.Payload())
	}
}

// class is the kind of failure of an error, as version 1.18.33 names them. An answer of the provider has a
// status; an error that can be tried again and has none is a broken connection.
func (f *fault) class() trace.Class {
	if f.Name != "APIError" {
		return trace.ClassOfWord(f.Name)
	}
	if f.Data.StatusCode == 0 && f.Data.IsRetryable {
		return trace.ClassNetwork
	}
	return trace.ClassOfStatus(f.Data.StatusCode)
}
