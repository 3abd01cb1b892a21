package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The kinds of items of Responses that this adapter reads.
const (
	itemMessage   = "message"
	itemReasoning = "reasoning"
	itemCall      = "function_call"
	itemImage     = "image_generation_call"
)

// item is a piece of an answer in Responses. Servers send an item as deltas, as a whole, or as
// both.
type item struct {
	id, index, kind string
	said            map[string]*strings.Builder // by part of the item
	parts           []string                    // the parts in their order
	call            *growing
	done            bool
}

// responseItem is the whole of an item, as far as it is known.
type responseItem struct {
	ID, Type  word
	CallID    word `json:"call_id"`
	Name      word
	Arguments arguments
	Content   list[responseText]
	Summary   list[responseText]
	Encrypted word `json:"encrypted_content"`
	Result    word
	Format    word `json:"output_format"`
	unknown   map[string]raw
}

type responseText struct {
	Type, Text, Refusal word
	Annotations         list[citation]
}

// UnmarshalJSON implements json.Unmarshaler. Some servers write a text alone.
func (t *responseText) UnmarshalJSON(value []byte) error {
	type plain responseText
	if _ = json.Unmarshal(value, &t.Text); t.Text == "" {
		_ = json.Unmarshal(value, (*plain)(t)) // an unknown form is no text
	}
	return nil
}

func decodeItem(value raw) (r responseItem) {
	_ = json.Unmarshal(value, &r) // an unknown form is an empty item
	if r.Type == itemCall {
		r.unknown = unknownKeys(value, "id", "type", "call_id", "name", "arguments", "status", "index", "output_index", "namespace")
	}
	return r
}

// item finds the item of an event, or begins one. Servers leave out ids or indexes, send the
// same id or the same index for all items, or another id in each event.
func (a *answer) item(id, index, kind string) *item {
	for _, is := range []func(*item) bool{
		func(i *item) bool {
			return id != "" && i.id == id && (index == "" || i.index == "" || i.index == index)
		},
		func(i *item) bool { return index != "" && i.index == index },
		func(i *item) bool { return id == "" && index == "" || i.id == "" && i.index == "" },
	} {
		for _, i := range slices.Backward(a.items) {
			if i.kind == kind && is(i) {
				if i.id == "" && i.index == "" {
					i.id, i.index = id, index
				}
				return i
			}
		}
	}
	return a.newItem(id, index, kind)
}

func (a *answer) newItem(id, index, kind string) *item {
	i := &item{id: id, index: index, kind: kind, said: map[string]*strings.Builder{}}
	if len(a.items) == maxParts {
		a.bound = tooMuchError{fmt.Sprintf("more than %d parts", maxParts)}
		return i
	}
	a.items = append(a.items, i)
	return i
}

// itemAdded begins an item.
func (a *answer) itemAdded(value raw, index string) {
	r := decodeItem(value)
	if a.callItem(string(r.CallID)) != nil {
		return // the server repeats itself
	}
	i := a.newItem(string(r.ID), index, string(r.Type))
	if r.Type == itemCall {
		i.callIs(a, r)
	}
}

// itemDone takes the whole of an item, and ends it.
func (a *answer) itemDone(value raw, index string) {
	r := decodeItem(value)
	i := a.callItem(string(r.CallID))
	if i == nil {
		i = a.item(string(r.ID), index, string(r.Type))
	}
	if i.call != nil && r.CallID != "" && i.call.serverID != "" && string(r.CallID) != i.call.serverID {
		i = a.newItem(string(r.ID), index, string(r.Type))
	}
	i.is(a, r)
}

// snapshot takes all items of an answer.
func (a *answer) snapshot(output []raw) {
	nth := map[word]int{}
	for place, value := range output {
		r := decodeItem(value)
		i := a.callItem(string(r.CallID))
		if i == nil {
			i = a.known(string(r.ID), fmt.Sprint(place), string(r.Type), nth[r.Type])
		}
		nth[r.Type]++
		if i == nil {
			i = a.newItem(string(r.ID), fmt.Sprint(place), string(r.Type))
		}
		i.is(a, r)
	}
}

// known finds an item of a snapshot: by its id, by its place, or as the nth of its kind.
func (a *answer) known(id, place, kind string, nth int) *item {
	var same []*item
	for _, i := range a.items {
		if i.kind == kind {
			same = append(same, i)
		}
	}
	for _, is := range []func(*item) bool{
		func(i *item) bool { return id != "" && i.id == id && (i.index == "" || i.index == place) },
		func(i *item) bool { return i.index == place },
	} {
		if n := slices.IndexFunc(same, is); n >= 0 {
			return same[n]
		}
	}
	if nth < len(same) {
		return same[nth]
	}
	return nil
}

func (a *answer) callItem(callID string) *item {
	for _, i := range a.items {
		if callID != "" && i.call != nil && i.call.serverID == callID {
			return i
		}
	}
	return nil
}

// grow adds text to a part of the item.
func (i *item) grow(a *answer, part, delta string) {
	if delta == "" || i.done {
		return
	}
	said := i.said[part]
	if said == nil {
		if len(i.said) == maxParts {
			a.bound = tooMuchError{fmt.Sprintf("more than %d parts", maxParts)}
			return
		}
		if i.kind == itemReasoning && len(i.said) > 0 && !strings.HasSuffix(part, "more") {
			a.thinks("\n\n")
		}
		said = &strings.Builder{}
		i.said[part], i.parts = said, append(i.parts, part)
	}
	said.WriteString(delta)
	switch {
	case i.kind == itemReasoning:
		a.thinks(delta)
	case strings.HasPrefix(part, "refusal"):
		a.refuses(delta)
	default:
		a.says(delta)
	}
}

// whole gives the whole text of a part.
func (i *item) whole(a *answer, part, text string) {
	said := ""
	if s := i.said[part]; s != nil {
		said = s.String()
	}
	i.grow(a, part, rest(said, text))
}

// is takes the whole item: what the deltas lacked of it.
func (i *item) is(a *answer, r responseItem) {
	if i.done {
		return
	}
	switch i.kind {
	case itemMessage:
		for _, c := range r.Content {
			a.cite(c.Annotations)
		}
		i.wholes(a, "text", r.Content)
		i.wholes(a, "refusal", r.Content)
		a.endPart("")
	case itemReasoning:
		i.wholes(a, "summary", r.Summary)
		i.wholes(a, "content", r.Content)
		a.endPart(signature(r))
	case itemCall:
		i.callIs(a, r)
	case itemImage:
		a.show([]picture{{Base64: r.Result, Format: r.Format}})
	}
	i.done = true
}

// wholes gives the whole texts of a kind. What was said before is their beginning, however the
// deltas were divided.
func (i *item) wholes(a *answer, kind string, texts []responseText) {
	said, whole := "", ""
	for _, part := range i.parts {
		if strings.HasPrefix(part, kind) {
			said += i.said[part].String()
		}
	}
	for n, t := range texts {
		text := string(t.Text)
		if kind == "refusal" {
			text = string(t.Refusal)
		}
		if whole += text; said == "" {
			i.grow(a, fmt.Sprintf("%s %d", kind, n), text)
		}
	}
	if said != "" {
		i.grow(a, kind+" more", rest(said, whole))
	}
}

func signature(r responseItem) string {
	if r.Encrypted == "" {
		return ""
	}
	value, _ := json.Marshal(sealed{ID: string(r.ID), Content: string(r.Encrypted)}) //nolint:errcheck,errchkjson // two strings have a JSON form
	return string(value)
}

func (i *item) growing(a *answer) *growing {
	if i.call == nil {
		i.call = a.newCall()
	}
	return i.call
}

// callGrows adds to the arguments of a call.
func (i *item) callGrows(a *answer, delta string) {
	if g := i.growing(a); g != nil && !i.done {
		a.grow(g, "", delta)
	}
}

// callIs takes what is known of a call.
func (i *item) callIs(a *answer, r responseItem) {
	g := i.growing(a)
	if g == nil {
		return
	}
	g.serverID = cmp.Or(g.serverID, string(r.CallID))
	learn(&g.state.Call, r.unknown)
	a.whole(g, string(r.Name), string(r.Arguments))
}
