package gateway

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/tributary-dev/tributary/export/markdown"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/gateway/refusal"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

// This file has the route for a download of a whole conversation.

// exported is what writes a conversation in one of the formats, page by page.
type exported interface {
	begin() error
	page(session.Page) error
	end() error
}

// export sends the whole conversation. One page of it is in memory at a time.
func (g *gateway) export(w http.ResponseWriter, r *http.Request) error {
	const turns = 100 // of a page
	s, err := g.Hub.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	query, err := exportQuery(r)
	if err != nil {
		return err
	}
	format := cmp.Or(query.Get("format"), "markdown")
	s.Damaged = g.Hub.Damage().Sessions[s.ID]
	var make func(io.Writer) exported
	mediaType, extension := "text/markdown; charset=utf-8", ".md"
	switch format {
	case "atif", "otlp", "otlp-protobuf":
		return g.exportTurns(w, r, s, format, query)
	case "markdown":
		make = func(w io.Writer) exported { return asMarkdown{w, s} }
	case "json":
		mediaType, extension = "application/json", ".json"
		make = func(w io.Writer) exported { return &asMessages{uistream.MessageList{W: w}, g.Stream, s} }
	default:
		return refusal.Malformed("`format` must be one of markdown, json, atif, otlp, otlp-protobuf. The trace has a route of its own.")
	}
	ctx, rd := g.reading(r.Context(), r)
	defer rd.Waits()
	if err := rd.Reads(); err != nil {
		return err
	}
	pages, err := g.Hub.Pages(ctx, s.ID, turns)
	if err != nil {
		return err
	}
	out := &download{ResponseWriter: w, name: fileName(s.Info), mediaType: mediaType, extension: extension}
	to := make(out)
	begun := false
	for page, pageErr := range pages {
		err = pageErr
		if err == nil && !begun {
			begun, err = true, to.begin()
		}
		if err == nil {
			err = rd.Reserve(downloadCost * int64(page.Bytes))
		}
		if err == nil {
			err = to.page(page)
		}
		if err == nil {
			err = rd.Reserve(readCost) // for the next one
		}
		if err != nil {
			break
		}
	}
	if err == nil && !begun {
		err = to.begin()
	}
	if err == nil {
		err = to.end()
	}
	return out.ended(g, r, err)
}

// exportQuery is the query of an export. A parameter that is not understood, or not of this format,
// is refused: the export would have what the caller wants to keep. One that says its default does no
// harm.
func exportQuery(r *http.Request) (url.Values, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refusal.Malformed("The query cannot be read: write %%3B for a semicolon, and %%25 for a percent sign.")
	}
	format := cmp.Or(query.Get("format"), "markdown")
	byDefault := map[string]string{"version": "1.7", "content": "all", "denied": "true", "subagents": "true"}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		switch formats := redact.Formats(name); {
		case len(query[name]) > 1:
			return nil, refusal.Malformed("`%s` stands there %d times: write it once.", name, len(query[name]))
		case query.Get(name) == "":
			return nil, refusal.Malformed("`%s` is empty: give it a value, or leave it out.", name)
		case name == "format":
		case formats == nil:
			return nil, refusal.Malformed("`%s` is no parameter of an export: use format, version, content, turn, message, denied or subagents.", name)
		case !slices.Contains(formats, format) && query.Get(name) != byDefault[name]:
			return nil, refusal.Malformed("`%s` does nothing for the format %s: leave it out, or use %s.", name, format, strings.Join(formats, ", "))
		}
	}
	return query, nil
}

// fileName is the session's title as the name of a file, or its id. The name is not that of a
// hidden file.
func fileName(info session.Info) string {
	name := func(text string) string {
		return strings.TrimLeft(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .-_", r) {
				return r
			}
			return '-'
		}, text), ". ")
	}
	return cmp.Or(name(info.Title), name(info.ID), "conversation")
}

// asMarkdown writes a conversation for people.
type asMarkdown struct {
	w io.Writer
	session.Summary
}

func (m asMarkdown) begin() error {
	return markdown.Begin(m.w, markdown.Head{Title: m.Title, Session: m.ID, Agent: m.Agent, Owner: m.CreatedBy, Created: m.CreatedAt, Damaged: m.Damaged})
}

func (m asMarkdown) page(p session.Page) error { return markdown.Write(m.w, m.Agent, p.Records) }

func (m asMarkdown) end() error { return nil }

// asMessages writes a conversation as the history has it.
type asMessages struct {
	uistream.MessageList
	options uistream.Options
	session.Summary
}

func (m *asMessages) begin() error {
	if m.Damaged == "" {
		return nil
	}
	return m.Add([]uistream.Message{damageNotice(m.ID, m.Damaged)})
}

func (m *asMessages) page(p session.Page) error {
	messages, err := uistream.History(p.Records, streamOptions{Options: m.options}.of(m.Info))
	if err != nil {
		return err
	}
	return m.Add(messages)
}

func (m *asMessages) end() error { return m.End() }
