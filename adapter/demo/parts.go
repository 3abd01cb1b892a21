package demo

import (
	"encoding/json"

	"github.com/tributary-dev/tributary/trace"
)

func uses() beat {
	return func(s *stage) error {
		cost := 0.0123
		return seq(
			say("Counting what this cost."),
			tell(trace.Usage{
				Scope: trace.UsageTurn, InputTokens: 1200, OutputTokens: 340, CacheReadTokens: 800, ReasoningTokens: 40,
				CostUSD: &cost, ContextUsed: 1540, ContextSize: 200000, Model: "demo",
			}),
		)(s)
	}
}

func plans() beat {
	steps := []string{"Read the file", "Think about it", "Answer"}
	at := func(done int) beat {
		entries := make([]trace.PlanEntry, len(steps))
		for i, content := range steps {
			entries[i] = trace.PlanEntry{Content: content, Status: trace.PlanPending}
			switch {
			case i < done:
				entries[i].Status = trace.PlanCompleted
			case i == done:
				entries[i].Status = trace.PlanInProgress
			}
		}
		return tell(trace.Plan{Entries: entries})
	}
	return seq(
		say("Here is my plan."), at(0),
		say("I have read the file."), at(1),
		say("I have thought about it."), at(2),
		say("The plan is done."), at(3),
	)
}

// pixel is a PNG of one blue pixel.
const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC"

func files() beat {
	return seq(
		say("I found a page and a document,"),
		tell(trace.Source{SourceID: "source_1", URL: "https://example.com/rivers", Title: "Rivers"}),
		tell(trace.Source{SourceID: "source_2", Title: "Streams", MediaType: "application/pdf", Filename: "streams.pdf"}),
		say("and made a picture."),
		tell(trace.File{URL: pixel, MediaType: "image/png", Filename: "pixel.png"}),
	)
}

func data() beat {
	weather := func(state string) beat {
		return tell(trace.Data{Name: "weather", ID: "weather_1", Value: raw(map[string]any{"city": "Basel", "state": state})})
	}
	return seq(
		say("I look up the weather."),
		weather("loading"),
		tell(trace.Data{Name: "progress", Value: json.RawMessage(`{"percent":50}`), Transient: true}),
		weather("rain"),
		say("It rains in Basel."),
	)
}
