package gateway

import (
	"cmp"
	"errors"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

// This file has the formats of the export for programs that read what an agent did.

// exportTurns sends a session in one of the formats. One turn of it is in memory at a time.
func (g *gateway) exportTurns(w http.ResponseWriter, r *http.Request, s session.Summary, format string, query url.Values) error {
	drop, err := redact.Parse(cmp.Or(query.Get("content"), "all"))
	if err != nil {
		return refusal.Malformed("`content`: %s.", err)
	}
	turn := query.Get("turn")
	if message := query.Get("message"); message != "" {
		if turn, err = g.Hub.TurnOf(r.Context(), s.ID, message); err != nil {
			return err
		}
	}
	var leave [2]bool
	for i, name := range []string{"denied", "subagents"} {
		switch query.Get(name) {
		case "", "true":
		case "false":
			leave[i] = true
		default:
			return refusal.Malformed("`%s` must be true or false.", name)
		}
	}
	ctx, rd := g.reading(r.Context(), r)
	defer rd.Waits()
	if err := rd.Reads(); err != nil {
		return err
	}
	records := func() iter.Seq2[trace.Record, error] {
		return func(yield func(trace.Record, error) bool) {
			all, err := g.Hub.Records(ctx, s.ID, session.Filter{})
			if err != nil {
				yield(trace.Record{}, err)
				return
			}
			weighed(rd, all)(yield)
		}
	}
	if len(drop) > 0 {
		s.Title = "" // it quotes the first prompt, and would be the name of the file
	}
	to := &download{ResponseWriter: w, name: fileName(s.Info)}
	f := redact.Filter{Agent: trace.AgentInfo{Name: s.Agent}, Drop: drop, Turn: turn, NoDenied: leave[0], NoSubagents: leave[1]}
	switch format {
	case "atif":
		to.mediaType, to.extension = "application/json", ".atif.json"
		o := atif.Options{Filter: f, Version: query.Get("version")}
		if err := o.Check(); err != nil {
			return refusal.Malformed("`version`: %s.", err)
		}
		err = atif.Write(to, records, o)
	default:
		to.mediaType, to.extension = "application/x-ndjson", ".otlp.jsonl"
		o := otlp.Options{Filter: f, Version: g.Version, Proto: format == "otlp-protobuf"}
		if o.Proto {
			to.mediaType, to.extension = "application/x-protobuf", ".otlp.pb"
		}
		var turns int
		if turns, err = otlp.Write(to, records, o); err == nil && turns == 0 {
			err = atif.Nothing(o.Turn)
		}
	}
	if errors.Is(err, atif.ErrNothing) {
		return &refusal.Error{Status: http.StatusConflict, Code: "nothing_to_export", Sentence: "T" + strings.TrimPrefix(err.Error(), "t") + "."}
	}
	return to.ended(g, r, err)
}

// weighed counts the records of the turns that are in memory.
func weighed(rd *reading, records iter.Seq2[trace.Record, error]) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		turns, sum := map[string]int64{}, int64(0)
		for r, err := range records {
			if err == nil && r.Turn != "" {
				size := int64(trace.ApproxSize(r.Payload))
				turns[r.Turn], sum = turns[r.Turn]+size, sum+size
				err = rd.Reserve(readCost + downloadCost*sum)
			}
			if !yield(r, err) || err != nil {
				return
			}
			if _, over := r.Payload.(trace.Stop); over {
				sum -= turns[r.Turn]
				delete(turns, r.Turn)
			}
		}
	}
}

// download is a response whose headers go out with its first byte, so that an error before it is
// an answer like all others.
type download struct {
	http.ResponseWriter

	name, mediaType, extension string
	begun                      bool
}

func (d *download) Write(p []byte) (int, error) {
	if !d.begun {
		d.begun = true
		d.Header().Set("Content-Type", d.mediaType)
		d.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": d.name + d.extension}))
	}
	return d.ResponseWriter.Write(p) //nolint:wrapcheck // it is the client's connection
}

// ended is the answer to an error before the first byte. After it, the response breaks off.
func (d *download) ended(g *gateway, r *http.Request, err error) error {
	if err != nil && d.begun {
		g.abort(r, err)
		return nil
	}
	return err
}
