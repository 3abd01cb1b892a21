package uistream

import (
	"encoding/json"
	"slices"

	"github.com/tributary-dev/tributary/internal/quote"
	"github.com/tributary-dev/tributary/trace"
)

// This file lists the participants of a message in its metadata.

// speaks notes who speaks in the message: its metadata lists all participants, in the order
// in which they began.
func (t *Translator) speaks(p trace.Data) {
	var f struct {
		Participant string `json:"participant"`
	}
	if p.Name != "participant" || p.ID == "" || json.Unmarshal(p.Value, &f) != nil || f.Participant == "" {
		return
	}
	if !slices.Contains(t.participants, f.Participant) {
		t.participants = append(t.participants, f.Participant)
	}
}

// withParticipants adds the participants to the metadata of a message.
func (t *Translator) withParticipants(meta json.RawMessage) json.RawMessage {
	if len(t.participants) == 0 {
		return meta
	}
	return mergeMetadata(meta, quote.JSON(map[string][]string{"participants": t.participants}))
}
