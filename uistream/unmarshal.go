package uistream

import (
	"encoding/json"
	"fmt"
	"strings"
)

// This file reads the messages of clients.

// UnmarshalJSON implements json.Unmarshaler: it reads a message of a client or of another
// server. Keys of a part that have no field of their own become the part's Keys.
func (m *Message) UnmarshalJSON(data []byte) error {
	var k Keys
	if err := json.Unmarshal(data, &k); err != nil {
		return fmt.Errorf("a message is no JSON object: %w", err)
	}
	*m = Message{ID: k.text("id"), Role: k.text("role"), Metadata: k.value("metadata")}
	if err := json.Unmarshal(k["parts"], &m.Parts); k["parts"] != nil && err != nil {
		return fmt.Errorf("the parts of a message: %w", err)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Part) UnmarshalJSON(data []byte) error {
	var k Keys
	if err := json.Unmarshal(data, &k); err != nil || k == nil {
		return fmt.Errorf("a part is no JSON object: %.100s", data)
	}
	*p = Part{
		Type: k.text("type"), State: k.text("state"), ID: k.text("id"), Text: k.text("text"),
		ToolCallID: k.text("toolCallId"), ToolName: k.text("toolName"), Title: k.text("title"), ErrorText: k.text("errorText"),
		Input: k.value("input"), Output: k.value("output"), ProviderExecuted: k.boolean("providerExecuted"), Preliminary: k.boolean("preliminary"),
		URL: k.text("url"), MediaType: k.text("mediaType"), Filename: k.text("filename"), SourceID: k.text("sourceId"),
		Data: k.value("data"), ProviderMetadata: k.value(metadataKey),
	}
	if name, static := strings.CutPrefix(p.Type, partTool); static {
		p.ToolName = name
	}
	var approval Keys
	if json.Unmarshal(k.value("approval"), &approval) == nil && approval != nil {
		_, answered := approval["approved"]
		p.Approval = &Approval{ID: approval.text("id"), Answered: answered, Approved: approval.boolean("approved"), Reason: approval.text("reason"), Keys: approval}
	}
	if len(k) > 0 {
		p.Keys = k
	}
	return nil
}
