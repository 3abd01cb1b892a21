package agentops

import (
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// The orders of frames in this file were seen of February's session agent.

const (
	thinkingFrame = `{"type":"agentStatus","status":"thinking"}`
	abortedFrame  = `{"type":"status","data":{"runnerBusy":false,"aborted":true}}`
	queuedFrame   = `{"type":"status","data":{"promptQueued":true,"queuePosition":1}}`
	nextFrame     = `{"type":"status","data":{"promptDequeued":true,"remaining":0}}`
	theirBegin    = `{"type":"message","data":{"id":"t3","role":"assistant","content":"","parts":[]}}`
	theirEnd      = `{"type":"message.updated","data":{"id":"t3","role":"assistant","parts":[{"type":"text","text":"Three"},{"type":"finish","reason":"end_turn"}]}}`
)

// asked is the upstream's id of the prompt of each turn that was begun here.
func (s *decoderStage) asked() string {
	var ids []string
	for _, info := range s.begun {
		if info.Prompt == nil {
			ids = append(ids, "-")
			continue
		}
		ids = append(ids, info.Prompt.Message.ID)
	}
	return strings.Join(ids, " ")
}

// Who steers stops what runs and says what is to run instead: what waited before is thrown
// out, and what came with it is not.
func TestE24_E34_WhatCameAfterAStopIsNotThrownOutWithWhatWaited(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(februaryFrame)
	first := s.prompt("Go")
	s.take(echoFrame, beginFrame, sayFrame)
	waits := s.prompt("On")
	s.take(secondEcho, queuedFrame)
	s.take(idleFrame, theirs("p3", "Instead"), queuedFrame, idleFrame, abortedFrame, nextFrame)
	s.ends(first, trace.OutcomeCanceled, "One")
	s.ends(waits, trace.OutcomeCanceled, "")
	s.take(idleFrame, thinkingFrame, theirBegin)
	instead := s.d.runs[0].b
	s.take(theirEnd, notBusyFrame)
	s.ends(instead, trace.OutcomeCompleted, "Three")
	if got := s.asked(); got != "p3" {
		t.Errorf("turns were begun of %q", got)
	}
}

// Word of what is given to the agent is the second word of what was stopped. The end that
// comes after it is the next one's, and what is prompted then runs.
func TestE24_TheSecondWordOfWhatWasStoppedMayBeThatTheNextIsGiven(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(februaryFrame)
	s.prompt("Go")
	s.take(echoFrame, beginFrame, sayFrame)
	s.take(idleFrame, theirs("p3", "Instead"), queuedFrame, idleFrame, abortedFrame, nextFrame)
	s.take(idleFrame, thinkingFrame, theirBegin, notBusyFrame) // so a turn fails of which nothing is told
	if len(s.d.runs) > 0 {
		t.Error("the turn that has failed runs on")
	}
	second := s.prompt("On")
	s.take(secondEcho, secondBegin, secondSay, secondEnd)
	s.ends(second, trace.OutcomeCompleted, "Two")
}

// An agent that was idle before its turn failed was not stopped: the end of the next turn is
// its own.
func TestE24_WhoWasIdleWasNotStopped(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(februaryFrame)
	s.prompt("Go")
	s.take(echoFrame, thinkingFrame, idleFrame, notBusyFrame)
	if s.d.unsettled() {
		t.Error("a second word is waited for")
	}
}

// What waited when everything was stopped is thrown out also if nobody says a second word.
func TestE24_WhatWaitedIsThrownOutWithoutAWord(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]func(*decoderStage){
		"told":     func(s *decoderStage) { s.take(notBusyFrame) },
		"not told": func(s *decoderStage) { s.d.settle(s) },
	} {
		s := newDecoderStage(t, Options{User: "u1"})
		s.take(februaryFrame)
		s.prompt("Go")
		s.take(echoFrame, beginFrame, sayFrame)
		waits := s.prompt("On")
		s.take(secondEcho, queuedFrame, idleFrame, idleFrame, abortedFrame)
		last(s)
		if !waits.Over() {
			t.Errorf("%s: it waits on", name)
		}
	}
}

// What is given to the agent and was never seen to wait is nobody's here: what is sent then
// has to wait for it.
func TestE08_APromptGetsNothingOfWhatWasNeverSeenToWait(t *testing.T) {
	t.Parallel()
	s := newDecoderStage(t, Options{User: "u1"})
	s.take(februaryFrame)
	first := s.prompt("Go")
	s.take(echoFrame, beginFrame, sayFrame, endFrame, nextFrame)
	s.ends(first, trace.OutcomeCompleted, "One")
	second := s.prompt("On")
	s.take(secondEcho, queuedFrame, thinkingFrame, theirBegin, theirEnd)
	s.wants(second, queued)
	s.take(nextFrame, secondBegin, secondSay, secondEnd)
	s.ends(second, trace.OutcomeCompleted, "Two")
	if got := s.asked(); got != "-" {
		t.Errorf("turns were begun of %q", got)
	}
}

// What others sent while nobody heard of it waits where it stands: whether the connection was
// lost in a turn of ours, or is the first.
func TestE32_E08_WhatOthersSentMeanwhileWaitsInItsPlace(t *testing.T) {
	t.Parallel()
	greeting := func(waiting, messages string) string {
		return `{"type":"init","session":{"id":"s","status":"running","messages":[` + messages + `]},"data":{"runnerBusy":true,"promptsQueued":` + waiting + `,"auditLog":[]}}`
	}
	said := func(id, text, by string) string {
		return `{"id":"` + id + `","role":"user","content":"` + text + `","authorId":"` + by + `"}`
	}
	mine, other := said("p1", "Go", "u1"), said("p3", "Theirs", "u2")
	now := `{"id":"t1","role":"assistant","content":"","parts":[{"type":"text","text":"One"}]}`

	s := newDecoderStage(t, Options{User: "u1"})
	s.take(februaryFrame)
	first := s.prompt("Go")
	s.take(echoFrame, beginFrame, sayFrame)
	second := s.prompt("On")
	s.take(greeting("2", mine+","+now+","+other+","+said("p2", "On", "u1")), endFrame)
	s.ends(first, trace.OutcomeCompleted, "One")
	s.take(strings.Replace(nextFrame, "0", "1", 1), theirBegin, theirEnd, nextFrame, secondBegin, secondSay, secondEnd)
	s.ends(second, trace.OutcomeCompleted, "Two")
	if got := s.asked(); got != "p3" {
		t.Errorf("turns were begun of %q", got)
	}

	s = newDecoderStage(t, Options{User: "u1"})
	s.take(greeting("1", mine+","+now+","+other))
	second = s.prompt("On")
	s.take(secondEcho, queuedFrame, endFrame, strings.Replace(nextFrame, "0", "1", 1), theirBegin, theirEnd, nextFrame, secondBegin, secondSay, secondEnd)
	s.ends(second, trace.OutcomeCompleted, "Two")
	if got := s.asked(); got != "- p3" {
		t.Errorf("turns were begun of %q", got)
	}
}
