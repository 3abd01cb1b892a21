package demo

import (
	"cmp"
	"encoding/json"

	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

func usage(s *stage) {
	cost := 0.0123
	s.say("Counting what this cost.")
	s.emit(trace.Usage{
		Scope: trace.UsageTurn, InputTokens: 1200, OutputTokens: 340, CacheReadTokens: 800, ReasoningTokens: 40,
		CostUSD: &cost, ContextUsed: 1540, ContextSize: 200000, Model: "demo",
	})
}

func fullContext(s *stage) {
	cost, whole := 0.0123, 4.56
	s.say("My context is nearly full.")
	step := trace.Usage{
		Scope: trace.UsageStep, InputTokens: 180_000, OutputTokens: 900, CacheReadTokens: 176_000, CacheWriteTokens: 2_000, ReasoningTokens: 300,
		ContextUsed: 180_900, ContextSize: 200_000, Model: s.model,
	}
	turn, session := step, step
	turn.Scope, turn.CostUSD = trace.UsageTurn, &cost
	session.Scope, session.InputTokens, session.OutputTokens, session.CostUSD = trace.UsageSession, 2_345_678, 45_678, &whole
	s.emit(step, turn, session)
}

func plan(s *stage) {
	for done, text := range []string{"Here is my plan.", "I have read the file.", "I have thought about it.", "The plan is done."} {
		var entries []trace.PlanEntry
		for i, content := range []string{"Read the file", "Think about it", "Answer"} {
			status := []trace.PlanStatus{trace.PlanCompleted, trace.PlanInProgress, trace.PlanPending}[cmp.Compare(i, done)+1]
			entries = append(entries, trace.PlanEntry{Content: content, Status: status})
		}
		s.say(text)
		s.emit(trace.Plan{Entries: entries})
	}
}

// pixel is a PNG of one blue pixel.
const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC"

func file(s *stage) {
	s.say("I found a page and a document,")
	s.emit(
		trace.Source{SourceID: "source_1", URL: "https://example.com/rivers", Title: "Rivers"},
		trace.Source{SourceID: "source_2", Title: "Streams", MediaType: "application/pdf", Filename: "streams.pdf"},
	)
	s.say("and made a picture.")
	s.emit(trace.File{URL: pixel, MediaType: "image/png", Filename: "pixel.png"})
}

// sunset is a PNG of 320 by 200 pixels in the colours of a sunset.
const sunset = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAUAAAADICAIAAAAWZq/8AAACZElEQVR4nOzTsQkAIBAEQYXvv2UNtImFmeC4BnbOera1NrfzPxAkYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ5iAIUzAECZgCBMwhAkYwgQMYQKGMAFDmIAhTMAQJmAIEzCECRjCBAxhAoYwAUOYgCFMwBAmYAgTMIQJGMIEDGEChjABQ9gNAAD//0nrBYaCDz2xAAAAAElFTkSuQmCC"

func picture(s *stage) {
	s.say("I have painted a sunset.")
	s.emit(trace.File{URL: sunset, MediaType: "image/png", Filename: "sunset.png"})
}

func data(s *stage) {
	weather := func(state string) trace.Data {
		return trace.Data{Name: "weather", ID: "weather_1", Value: agentkit.Encode(map[string]any{"city": "Basel", "state": state})}
	}
	s.say("I look up the weather.")
	s.emit(weather("loading"), trace.Data{Name: "progress", Value: json.RawMessage(`{"percent":50}`), Transient: true}, weather("rain"))
	s.say("It rains in Basel.")
}
