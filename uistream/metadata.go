package uistream

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file merges metadata of messages, as the client does.

// mergedLevels is how many levels of objects are merged. A deeper object replaces the one before,
// because each level reads the whole value once more.
const mergedLevels = 32

// messageMetadata is JSON that grows. An object into which something was merged is kept as its keys, so
// that the next merge costs only what it brings.
type messageMetadata struct {
	raw  json.RawMessage
	keys map[string]*messageMetadata // nil if raw has the value
}

// merge merges objects and replaces everything else. Nothing, and null, change nothing.
func (m *messageMetadata) merge(more json.RawMessage) {
	if len(more) > 0 && string(more) != "null" {
		m.put(more, mergedLevels)
	}
}

// put merges a value into one that is there. Null replaces it.
func (m *messageMetadata) put(more json.RawMessage, levels int) {
	var keys map[string]json.RawMessage
	if levels == 0 || json.Unmarshal(more, &keys) != nil || keys == nil || !m.open() {
		m.raw, m.keys = more, nil
		return
	}
	for key, value := range keys {
		if old, is := m.keys[key]; is {
			old.put(value, levels-1)
		} else {
			m.keys[key] = &messageMetadata{raw: value}
		}
	}
}

// open makes the keys of an object, and reports false for everything else.
func (m *messageMetadata) open() bool {
	if m.keys != nil {
		return true
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(m.raw, &keys) != nil || keys == nil {
		return false
	}
	m.raw, m.keys = nil, make(map[string]*messageMetadata, len(keys))
	for key, value := range keys {
		m.keys[key] = &messageMetadata{raw: value}
	}
	return true
}

// json is the value, or nil if there is none.
func (m *messageMetadata) json() json.RawMessage {
	if m.keys == nil {
		return m.raw
	}
	return quote.JSON(m.value())
}

func (m *messageMetadata) value() any {
	if m.keys == nil {
		return m.raw
	}
	all := make(map[string]any, len(m.keys))
	for key, value := range m.keys {
		all[key] = value.value()
	}
	return all
}

// mergeMetadata merges one value into another.
func mergeMetadata(base, more json.RawMessage) json.RawMessage {
	m := messageMetadata{raw: base}
	m.merge(more)
	return m.json()
}
