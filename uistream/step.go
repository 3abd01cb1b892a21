package uistream

import "github.com/tributary-dev/tributary/trace"

// This file translates the steps of a turn.

// A step is a step for the client only where nothing is torn by its border: a
// call whose input is still being written would become two parts. Such a
// border is left out.

// A step that the agent named may stay empty, and is one for the client only with
// its first part.

func (t *Translator) stepStart(p trace.Step) {
	if t.step && t.writing > 0 {
		return
	}
	t.closeStep()
	if p.NativeID == "" {
		t.openStep()
	}
}

func (t *Translator) stepEnd() {
	t.closeParts()
	if t.writing == 0 {
		t.closeStep()
	}
}

// needStep opens a step before a part that belongs into one.
func (t *Translator) needStep() {
	if !t.step {
		t.openStep()
	}
}

func (t *Translator) openStep() {
	t.step, t.asked = true, false
	t.steps++
	t.stepCalls = nil
	t.emit(StartStep{})
}

// closeStep ends the step and, since the clients forget them, the open parts.
func (t *Translator) closeStep() {
	if !t.step {
		return
	}
	t.closeParts()
	t.step = false
	t.emit(FinishStep{})
}
