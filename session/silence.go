package session

import "github.com/tributary-dev/tributary/trace"

// noteSilence tells the user that the agent has completed its turn and shown nothing: some agents hide a failure of
// their model in this way.
func (t *turn) noteSilence() {
	if s := t.verdict(nil); s.Outcome == trace.OutcomeCompleted && s.FinalOutput == "" && !t.builder.Activity().Shown {
		t.builder.Emit(trace.Notice("no_answer", "The agent ended its turn without an answer and gave no reason: ask again, or look into the agent's own log."))
	}
}
