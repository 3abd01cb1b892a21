package uistream

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/quote"
)

// This file has chunks with keys of other servers.

// Keys are keys of a chunk and their values.
type Keys map[string]json.RawMessage

// Extended is a chunk with keys beside those of its type in this package, such as
// providerMetadata. They come from an upstream that speaks this protocol, too.
type Extended struct {
	Chunk
	Keys Keys
}

// Other is a chunk of a type that this package itself never writes, such as custom.
type Other struct {
	Name string
	Keys Keys
}

// Type implements Chunk.
func (c Other) Type() string { return c.Name }

func (c Extended) appendFields(dst []byte) []byte { return c.Keys.append(c.Chunk.appendFields(dst)) }
func (c Other) appendFields(dst []byte) []byte    { return c.Keys.append(dst) }

func (k Keys) append(dst []byte) []byte {
	for _, name := range slices.Sorted(maps.Keys(k)) {
		dst = append(append(quote.Append(append(dst, ','), name), ':'), k[name]...)
	}
	return dst
}

// Bare is a chunk without the further keys.
func Bare(c Chunk) Chunk {
	if e, ok := c.(Extended); ok {
		return e.Chunk
	}
	return c
}

// safe returns those keys that every client of the profile accepts on a chunk of the type.
func (k Keys) safe(p Profile, typ string) Keys {
	kept := maps.Clone(k)
	maps.DeleteFunc(kept, func(name string, value json.RawMessage) bool { return !p.accepts(typ, name, value) })
	return kept
}

// accepts reports whether a key with this value may be sent.
func (p Profile) accepts(typ, name string, value json.RawMessage) bool {
	r, _ := lookup(typ)
	i := slices.IndexFunc(r.fields, func(f field) bool { return f.name == name })
	return i >= 0 && p.each(typ, func(v release) bool { return known(v, typ, name) && r.fields[i].kind.holds(value, v) })
}

// passes reports whether every client of the profile accepts the chunk once unknown keys
// are gone.
func (c Other) passes(p Profile) bool {
	r, ok := lookup(c.Name)
	if !ok || strings.HasPrefix(c.Name, dataPrefix) || !p.knows(c.Name, "") {
		return false
	}
	for _, f := range r.fields {
		if value, is := c.Keys[f.name]; f.required && (!is || !p.accepts(c.Name, f.name, value)) {
			return false
		}
	}
	return true
}
