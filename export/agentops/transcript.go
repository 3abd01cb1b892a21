package agentops

import (
	"iter"
	"slices"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/trace"
)

// Transcript returns the messages that records without deltas make: the newest ones that
// take up no more than most bytes.
func Transcript(records iter.Seq2[trace.Record, error], o Options, most int) ([]wire.Message, error) {
	t := New(o)
	var all []wire.Message
	size := 0 // of the messages since the last look
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		for _, f := range t.Next(r) {
			switch f := f.(type) {
			case wire.MessageAdded:
				all = append(all, f.Data)
				size += weight(f.Data)
			case wire.MessageUpdated:
				if i := slices.IndexFunc(all, func(m wire.Message) bool { return m.ID == f.Data.ID }); i >= 0 {
					all[i].Content, all[i].Parts = f.Data.Content, f.Data.Parts
					size += weight(f.Data)
				}
			}
		}
		if size > most {
			all, size = newest(all, most), 0
		}
	}
	return newest(all, most), nil
}

// newest returns the newest messages that take up no more than most bytes, in a list of
// their own.
func newest(all []wire.Message, most int) []wire.Message {
	first := len(all)
	for first > 0 && most >= weight(all[first-1]) {
		first--
		most -= weight(all[first])
	}
	return slices.Clone(all[first:])
}

// weight is roughly the length of a message in a frame.
func weight(m wire.Message) int {
	const frame = 200
	n := frame + len(m.Content)
	for _, p := range m.Parts {
		n += frame + len(p.Text) + len(p.Args) + len(p.Result) + len(p.Error) + len(p.Data)
	}
	return n
}
