package uistream

import (
	"slices"
	"strings"
)

// This file has the table of chunk types, their fields, and the releases that know them.

// kind is the JSON type of a field.
type kind uint8

const (
	str kind = iota
	boolean
	anything
	metadata // an object of objects
	array
	reason // the closed set of finish reasons
)

// field is a field of a chunk.
type field struct {
	name     string
	kind     kind
	required bool
	since    since
}

// row is a chunk type: what the releases of the client know of it. A release
// before 5.0.217, 6.0.231 and 7.0.32 rejects a chunk with a key that it does
// not know, a later one drops the key.
type row struct {
	name   string
	since  since
	fields []field
}

// lookup finds the row of a chunk type.
func lookup(typ string) (row, bool) {
	if strings.HasPrefix(typ, dataPrefix) {
		typ = dataPrefix
	}
	if i := slices.IndexFunc(table, func(r row) bool { return r.name == typ }); i >= 0 {
		return table[i], true
	}
	return row{}, false
}

// Table lists what the clients know: each type of a chunk with each of its keys, such as
// "text-start id". The type of data is "data-".
func Table() (all []string) {
	for _, r := range table {
		for _, f := range append(r.fields, must("type", str)) {
			all = append(all, r.name+" "+f.name)
		}
	}
	return all
}

// known reports whether a release knows a type and, unless it is empty, a field.
func known(v release, typ, name string) bool {
	r, ok := lookup(typ)
	if !ok || !r.since.knownTo(v) {
		return false
	}
	return name == "" || slices.ContainsFunc(r.fields, func(f field) bool { return f.name == name && f.since.knownTo(v) })
}

const (
	dataPrefix         = "data-"
	metadataKey        = "providerMetadata"
	messageMetadataKey = "messageMetadata"
)

func must(name string, k kind) field           { return field{name, k, true, since{0, 0, 0}} }
func may(name string, k kind) field            { return field{name, k, false, since{0, 0, 0}} }
func from(f field, five, six, seven int) field { f.since = since{five, six, seven}; return f }

// table is the one chunk table. Where the exact release that learned a key is
// not known, the first one that no longer minds unknown keys stands in for it.
//
//nolint:gochecknoglobals // never written
var table = []row{
	{"start", since{}, []field{may("messageId", str), may(messageMetadataKey, anything)}},
	{"start-step", since{}, nil},
	{"finish-step", since{}, nil},
	{"text-start", since{}, []field{must("id", str), pm()}},
	{"text-delta", since{}, []field{must("id", str), must("delta", str), pm()}},
	{"text-end", since{}, []field{must("id", str), pm(), from(may("citations", array), never, never, 32)}},
	{"reasoning-start", since{}, []field{must("id", str), pm()}},
	{"reasoning-delta", since{}, []field{must("id", str), must("delta", str), pm()}},
	{"reasoning-end", since{}, []field{must("id", str), pm()}},
	{"tool-input-start", since{}, append([]field{
		callID(), must("toolName", str), may("providerExecuted", boolean), may("dynamic", boolean), title(),
		from(may("inputEncoding", str), never, 308, 142),
	}, late()...)},
	{"tool-input-delta", since{}, []field{callID(), must("inputTextDelta", str)}},
	{"tool-input-available", since{}, []field{
		callID(), must("toolName", str), must("input", anything),
		may("providerExecuted", boolean), may("dynamic", boolean), pm(), title(), toolMetadata(),
	}},
	{"tool-input-error", since{277, 0, 0}, []field{
		callID(), must("toolName", str), must("input", anything), must("errorText", str),
		may("providerExecuted", boolean), may("dynamic", boolean), pm(), title(), toolMetadata(),
	}},
	{"tool-output-available", since{}, append([]field{
		callID(), must("output", anything), may("providerExecuted", boolean), may("dynamic", boolean),
		from(may("preliminary", boolean), 217, 0, 0),
	}, late()...)},
	{"tool-output-error", since{}, append([]field{
		callID(), must("errorText", str), may("providerExecuted", boolean), may("dynamic", boolean),
	}, late()...)},
	{"tool-output-denied", since{never, 0, 0}, []field{callID()}},
	{"tool-approval-request", since{never, 0, 0}, []field{
		callID(), must("approvalId", str),
		from(may("approvalDescriptor", anything), never, 231, 32),
		from(may("inputSchemaInput", anything), never, 231, 32),
		from(may("signature", str), never, 231, 0),
		from(may("reason", str), never, never, 32),
		from(may("isAutomatic", boolean), never, never, 0),
	}},
	{"tool-approval-response", since{never, never, 0}, []field{
		must("approvalId", str), must("approved", boolean), may("reason", str), may("providerExecuted", boolean), pm(),
	}},
	{"source-url", since{}, []field{must("sourceId", str), must("url", str), may("title", str), pm()}},
	{"source-document", since{}, []field{
		must("sourceId", str), must("mediaType", str), must("title", str), may("filename", str), pm(),
	}},
	{"file", since{}, []field{must("url", str), must("mediaType", str), pm()}},
	{"reasoning-file", since{never, never, 0}, []field{must("url", str), must("mediaType", str), pm()}},
	{"custom", since{never, never, 0}, []field{must("kind", str), pm()}},
	{dataPrefix, since{}, []field{must("data", anything), may("id", str), may("transient", boolean)}},
	{"message-metadata", since{}, []field{must(messageMetadataKey, anything)}},
	{"steering-message", since{never, never, 163}, []field{must("id", str), must("parts", array)}},
	{"reset-step", since{never, never, 70}, nil},
	{"error", since{}, []field{must("errorText", str)}},
	{"abort", since{}, []field{from(may("reason", str), never, 231, 0)}},
	{"finish", since{}, []field{from(may("finishReason", reason), 217, 0, 0), may(messageMetadataKey, anything)}},
}

func callID() field       { return must("toolCallId", str) }
func pm() field           { return may(metadataKey, metadata) }
func title() field        { return from(may("title", str), never, 0, 0) }
func toolMetadata() field { return from(may("toolMetadata", anything), never, 231, 0) }

// late are the keys that the chunks of a tool call got after 6.0.0.
func late() []field {
	return []field{from(pm(), never, 231, 0), toolMetadata()}
}
