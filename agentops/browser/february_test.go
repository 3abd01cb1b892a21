package browser_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/agentops/browser"
)

// A browser of February that joins at any moment gets each message once: a prompt at once
// when it waits, and not again when it runs. A question that is repeated has no time.
func TestFebruaryGetsEachMessageOnceWheneverItJoins(t *testing.T) {
	for name, story := range stories() {
		records := record(t, story)
		for joined := range records {
			tr := browser.New(options(agentops.Feb))
			for _, r := range records[:joined] {
				tr.Observe(r)
			}
			frames := tr.Join(browser.Presence{}, nil)
			for _, f := range frames {
				if q, is := f.(agentops.Question); is && q.ExpiresAt != 0 {
					t.Errorf("%s joined at %d: the question %s has a time", name, joined, q.QuestionID)
				}
			}
			for _, r := range records[joined:] {
				frames = append(frames, tr.Next(r)...)
			}
			added := map[string]int{}
			for _, f := range frames {
				switch f := f.(type) {
				case agentops.MessageAdded:
					added[f.Data.ID]++
				case agentops.MessageUpdated:
					if added[f.Data.ID] == 0 {
						t.Errorf("%s joined at %d: %s is updated and was never added", name, joined, f.Data.ID)
					}
				case agentops.QueueState, agentops.QueueWithdrawn, agentops.InteractivePrompt, agentops.InteractivePromptResolved, agentops.InteractivePromptExpired:
					t.Errorf("%s joined at %d: February does not know %s", name, joined, f.Type())
				}
			}
			for id, n := range added {
				if n != 1 {
					t.Errorf("%s joined at %d: %s was added %d times", name, joined, id, n)
				}
			}
		}
	}
}
