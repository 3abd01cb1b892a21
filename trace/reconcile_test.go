package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// speech is Builder's text methods, for messages or for thoughts.
type speech struct {
	*trace.Builder
	thought bool
}

func (s speech) delta(key, text string) {
	if s.thought {
		s.ThoughtDelta(key, text)
	} else {
		s.MessageDelta(key, text)
	}
}

func (s speech) snapshot(key, text string) {
	if s.thought {
		s.ThoughtSnapshot(key, text)
	} else {
		s.MessageSnapshot(key, text)
	}
}

func (s speech) whole(key, text string) {
	if s.thought {
		s.Thought(key, text, "")
	} else {
		s.Message(key, text)
	}
}

func (s speech) end(key string) {
	if s.thought {
		s.ThoughtEnd(key, "")
	} else {
		s.MessageEnd(key)
	}
}

func (s speech) repeats(key, earlier string) {
	if s.thought {
		s.ThoughtRepeats(key, earlier)
	} else {
		s.MessageRepeats(key, earlier)
	}
}

// brief writes the text events of a turn in short: "1+" a part begins, "1:x" a
// delta, "1=x" a whole, "1!x" a whole that is superseded.
func brief(events []trace.Event) string {
	var out []string
	part := func(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }
	whole := func(id, text string, superseded bool) {
		mark := "="
		if superseded {
			mark = "!"
		}
		out = append(out, part(id)+mark+text)
	}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.MessageStart:
			out = append(out, part(p.Part)+"+")
		case trace.ThoughtStart:
			out = append(out, part(p.Part)+"+")
		case trace.MessageDelta:
			out = append(out, part(p.Part)+":"+p.Delta)
		case trace.ThoughtDelta:
			out = append(out, part(p.Part)+":"+p.Delta)
		case trace.Message:
			whole(p.Part, p.Text, p.Superseded)
		case trace.Thought:
			whole(p.Part, p.Text, p.Superseded)
		}
	}
	return strings.Join(out, " ")
}

// Texts have no spaces here, so that brief can be read.
const long = "the-quick-brown-fox" // longer than what tells "anew" from "goes on"

type textCase struct {
	name   string
	say    func(s speech)
	want   string
	final  string // of a message; thoughts have none
	counts trace.Counts
}

func runTextCases(t *testing.T, cases []textCase) {
	t.Helper()
	for _, c := range cases {
		for _, thought := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/thought=%t", c.name, thought), func(t *testing.T) {
				t.Parallel()
				b, log := newTurn()
				c.say(speech{b, thought})
				if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
					t.Fatal(err)
				}
				if err := check(log.events); err != nil {
					t.Error(err)
				}
				if got := brief(log.events); got != c.want {
					t.Errorf("\n got %s\nwant %s", got, c.want)
				}
				if got := b.Counts(); got != c.counts {
					t.Errorf("counts %+v, want %+v", got, c.counts)
				}
				want := c.final
				if thought {
					want = ""
				}
				stop := log.events[len(log.events)-1].Payload.(trace.Stop)
				if stop.FinalOutput != want {
					t.Errorf("final output %q, want %q", stop.FinalOutput, want)
				}
			})
		}
	}
}

//evidence:for ops-text-once
func TestReconciling(t *testing.T) {
	t.Parallel()
	runTextCases(t, []textCase{
		{"whole alone", func(s speech) { s.whole("a", "one") }, "1+ 1:one 1=one", "one", trace.Counts{}},
		{"whole equals its deltas", func(s speech) { s.delta("a", "o"); s.delta("a", "ne"); s.whole("a", "one") }, "1+ 1:o 1:ne 1=one", "one", trace.Counts{}},
		{"whole extends", func(s speech) { s.delta("a", "o"); s.whole("a", "one") }, "1+ 1:o 1:ne 1=one", "one", trace.Counts{Reconciled: 1}},
		{"whole contradicts", func(s speech) { s.delta("a", "one"); s.whole("a", "two") }, "1+ 1:one 1=one", "one", trace.Counts{Contradicted: 1}},
		{"whole is shorter", func(s speech) { s.delta("a", "one"); s.whole("a", "on") }, "1+ 1:one 1=one", "one", trace.Counts{Contradicted: 1}},
		{"whole says nothing", func(s speech) { s.delta("a", "one"); s.whole("a", "") }, "1+ 1:one 1=one", "one", trace.Counts{}},
		{"nothing at all", func(s speech) { s.delta("a", ""); s.snapshot("a", ""); s.whole("a", ""); s.end("b") }, "", "", trace.Counts{}},
		{"whole twice", func(s speech) { s.whole("a", "one"); s.whole("a", "one") }, "1+ 1:one 1=one", "one", trace.Counts{Repeated: 1}},
		{"whole after the end", func(s speech) { s.delta("a", "one"); s.end("a"); s.whole("a", "one") }, "1+ 1:one 1=one", "one", trace.Counts{Repeated: 1}},
		{"end twice", func(s speech) { s.delta("a", "one"); s.end("a"); s.end("a") }, "1+ 1:one 1=one", "one", trace.Counts{}},
		{"whole after the end extends", func(s speech) { s.delta("a", "o"); s.end("a"); s.whole("a", "one") }, "1+ 1:o 1=o 2+ 2:ne 2=ne", "one", trace.Counts{Reconciled: 1}},
		{"and is repeated", func(s speech) {
			s.delta("a", "o")
			s.end("a")
			s.whole("a", "one")
			s.whole("a", "one")
			s.whole("a", "one!")
		}, "1+ 1:o 1=o 2+ 2:ne 2=ne 3+ 3:! 3=!", "one!", trace.Counts{Reconciled: 2, Repeated: 1}},
		{"another whole under the key", func(s speech) { s.whole("a", "one"); s.whole("a", "two") }, "1+ 1:one 1=one 2+ 2:two 2=two", "one\n\ntwo", trace.Counts{}},
		{"delta under an ended key", func(s speech) { s.whole("a", "one"); s.delta("a", "two"); s.whole("a", "two") }, "1+ 1:one 1=one 2+ 2:two 2=two", "one\n\ntwo", trace.Counts{}},

		{"snapshots", func(s speech) { s.snapshot("a", "o"); s.snapshot("a", "on"); s.snapshot("a", "one"); s.end("a") }, "1+ 1:o 1:n 1:e 1=one", "one", trace.Counts{Reconciled: 2}},
		{"snapshot twice", func(s speech) { s.snapshot("a", "on"); s.snapshot("a", "on") }, "1+ 1:on 1=on", "on", trace.Counts{}},
		{"late snapshot", func(s speech) { s.snapshot("a", "on"); s.snapshot("a", "o") }, "1+ 1:on 1=on", "on", trace.Counts{Repeated: 1}},
		{"snapshot contradicts", func(s speech) { s.delta("a", "on"); s.snapshot("a", "off"); s.delta("a", "e") }, "1+ 1:on 1:e 1=one", "one", trace.Counts{Contradicted: 1}},
		{"snapshot between deltas", func(s speech) { s.delta("a", "o"); s.snapshot("a", "one"); s.delta("a", "s") }, "1+ 1:o 1:ne 1:s 1=ones", "ones", trace.Counts{Reconciled: 1}},
		{"snapshot after the end", func(s speech) {
			s.whole("a", "on")
			s.snapshot("a", "on")
			s.snapshot("a", "one")
			s.snapshot("a", "ones")
		}, "1+ 1:on 1=on 2+ 2:e 2:s 2=es", "ones", trace.Counts{Repeated: 1, Reconciled: 2}},

		{"whole after the step", func(s speech) { s.delta("a", "on"); s.StepEnd(); s.whole("a", "one") }, "1+ 1:on 1=on 2+ 2:e 2=e", "one", trace.Counts{Reconciled: 1}},
		{"snapshot after a pause", func(s speech) {
			s.snapshot("a", "on")
			s.Question(trace.Question{})
			s.snapshot("a", "one")
			s.whole("a", "one")
		}, "1+ 1:on 1=on 2+ 2:e 2=e", "one", trace.Counts{Reconciled: 1}},
		{"whole of both sides of a step", func(s speech) { s.delta("a", "o"); s.StepEnd(); s.delta("a", "n"); s.whole("a", "one") }, "1+ 1:o 1=o 2+ 2:n 2:e 2=ne", "ne", trace.Counts{Reconciled: 1}},
		{"one key for every step", func(s speech) { s.delta("", "o"); s.StepEnd(); s.delta("", "tw"); s.whole("", "two") }, "1+ 1:o 1=o 2+ 2:tw 2:o 2=two", "two", trace.Counts{Reconciled: 1}},

		{"half dropped, whole has it", func(s speech) { s.delta("a", "x\xed\xa0\xbd"); s.whole("a", "x😀") }, "1+ 1:x 1:😀 1=x😀", "x😀", trace.Counts{Reconciled: 1}},
		{"half that the whole lacks", func(s speech) { s.delta("a", "x\xed\xa0\xbd"); s.whole("a", "x") }, "1+ 1:x 1=x", "x", trace.Counts{}},
		{"lone half in both", func(s speech) { s.delta("a", "x\xed\xa0\xbdy"); s.whole("a", "x\xed\xa0\xbdy") }, "1+ 1:x\ufffdy 1=x\ufffdy", "x\ufffdy", trace.Counts{}},
		{"lone half at the end of both", func(s speech) { s.delta("a", "x\xed\xa0\xbd"); s.whole("a", "x\xed\xa0\xbd") }, "1+ 1:x 1:\ufffd 1=x\ufffd", "x\ufffd", trace.Counts{Reconciled: 1}},
		{"snapshot cut in a character", func(s speech) { s.snapshot("a", "x\xf0\x9f"); s.snapshot("a", "x😀") }, "1+ 1:x 1:😀 1=x😀", "x😀", trace.Counts{Reconciled: 1}},
		{"snapshot cut in a character after a step", func(s speech) {
			s.snapshot("a", "x")
			s.StepEnd()
			s.snapshot("a", "x\xf0\x9f")
			s.delta("a", "\x98\x80")
		}, "1+ 1:x 1=x 2+ 2:😀 2=😀", "😀", trace.Counts{Repeated: 1}},
		{"half never completed", func(s speech) { s.delta("a", "x\xf0\x9f") }, "1+ 1:x 1:\ufffd 1=x\ufffd", "x\ufffd", trace.Counts{}},
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	both := func(name string, say func(s speech), open, closed, final string, counts trace.Counts) []textCase {
		return []textCase{
			{name + "/open", func(s speech) { s.delta("a", long); say(s) }, open, final, counts},
			{name + "/closed", func(s speech) { s.delta("a", long); s.end("a"); say(s) }, closed, final, counts},
		}
	}
	was, closed := "1+ 1:"+long+" ", "1="+long+" "
	var cases []textCase
	add := func(c []textCase) { cases = append(cases, c...) }
	add(both("repeats exactly", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", long[:7])
		s.delta("b", long[7:])
		s.end("b")
		s.whole("b", long)
	}, was+"1="+long, was+"1="+long, long, trace.Counts{Repeated: 1}))
	add(both("repeats as a whole", func(s speech) {
		s.repeats("b", "a")
		s.whole("b", long)
	}, was+"1="+long, was+"1="+long, long, trace.Counts{}))
	add(both("repeats and goes on", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", long[:7])
		s.delta("b", long[7:]+"-jumps")
		s.delta("b", "!")
		s.whole("b", long+"-jumps!")
	}, was+"1:-jumps 1:! 1="+long+"-jumps!", was+closed+"2+ 2:-jumps 2:! 2=-jumps!", long+"-jumps!", trace.Counts{}))
	add(both("goes on in a whole", func(s speech) {
		s.repeats("b", "a")
		s.whole("b", long+"-jumps")
	}, was+"1:-jumps 1="+long+"-jumps", was+closed+"2+ 2:-jumps 2=-jumps", long+"-jumps", trace.Counts{}))
	add(both("goes on in snapshots", func(s speech) {
		s.repeats("b", "a")
		s.snapshot("b", long[:3])
		s.snapshot("b", long+"-")
		s.snapshot("b", long+"-jumps")
	}, was+"1:- 1:jumps 1="+long+"-jumps", was+closed+"2+ 2:- 2:jumps 2=-jumps", long+"-jumps", trace.Counts{Reconciled: 2}))
	add(both("repeats then differs", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", long[:17])
		s.delta("b", "-dog")
		s.whole("b", long[:17]+"-dog")
	}, was+"1!"+long+" 2+ 2:"+long[:17]+"-dog 2="+long[:17]+"-dog", was+closed+"1!"+long+" 2+ 2:"+long[:17]+"-dog 2="+long[:17]+"-dog", long[:17]+"-dog", trace.Counts{}))
	add(both("ends early", func(s speech) {
		s.repeats("b", "a")
		s.whole("b", long[:9])
	}, was+"1!"+long+" 2+ 2:"+long[:9]+" 2="+long[:9], was+closed+"1!"+long+" 2+ 2:"+long[:9]+" 2="+long[:9], long[:9], trace.Counts{}))
	add(both("repeats nothing", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", "-jumps")
		s.whole("b", "-jumps")
	}, was+"1="+long+" 2+ 2:-jumps 2=-jumps", was+closed+"2+ 2:-jumps 2=-jumps", long+"-jumps", trace.Counts{}))
	add(both("repeats nothing, its whole has all", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", "-jumps")
		s.whole("b", long+"-jumps!")
	}, was+"1="+long+" 2+ 2:-jumps 2:! 2=-jumps!", was+closed+"2+ 2:-jumps 2:! 2=-jumps!", long+"-jumps!", trace.Counts{Reconciled: 1}))
	add(both("says nothing", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", "")
		s.end("b")
	}, was+"1="+long, was+"1="+long, long, trace.Counts{}))
	add(both("is cut off while it repeats", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", long[:9])
	}, was+"1="+long, was+"1="+long, long, trace.Counts{}))
	add(both("chain of retries", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", long[:9])
		s.repeats("c", "b")
		s.delta("c", long+"-jumps")
		s.repeats("d", "c")
		s.delta("d", long+"-jumps-over")
		s.whole("d", long+"-jumps-over")
	}, was+"1:-jumps 1:-over 1="+long+"-jumps-over", was+closed+"2+ 2:-jumps 2:-over 2=-jumps-over", long+"-jumps-over", trace.Counts{}))
	add(both("retry under the same key", func(s speech) {
		s.repeats("a", "a")
		s.delta("a", long+"-jumps")
		s.end("a")
	}, was+"1:-jumps 1="+long+"-jumps", was+closed+"2+ 2:-jumps 2=-jumps", long+"-jumps", trace.Counts{}))
	add(both("retry of what was superseded", func(s speech) {
		s.repeats("b", "a")
		s.whole("b", long[:17]+"-dog")
		s.repeats("c", "a") // what stands is b
		s.whole("c", long[:17]+"-dog-barks")
	}, was+"1!"+long+" 2+ 2:"+long[:17]+"-dog 2="+long[:17]+"-dog 3+ 3:-barks 3=-barks",
		was+closed+"1!"+long+" 2+ 2:"+long[:17]+"-dog 2="+long[:17]+"-dog 3+ 3:-barks 3=-barks", long[:17]+"-dog-barks", trace.Counts{}))
	add(both("contradicted by its own whole", func(s speech) {
		s.repeats("b", "a")
		s.delta("b", long[:9])
		s.whole("b", "other")
	}, was+"1!"+long+" 2+ 2:"+long[:9]+" 2="+long[:9], was+closed+"1!"+long+" 2+ 2:"+long[:9]+" 2="+long[:9], long[:9], trace.Counts{Contradicted: 1}))
	add([]textCase{
		{"of nothing known", func(s speech) { s.repeats("b", "a"); s.whole("b", "x") }, "1+ 1:x 1=x", "x", trace.Counts{}},
		{"of a part without text", func(s speech) { s.delta("a", ""); s.repeats("b", "a"); s.whole("b", "x") }, "1+ 1:x 1=x", "x", trace.Counts{}},
		{"that has begun", func(s speech) { s.delta("a", "x"); s.delta("b", "y"); s.repeats("b", "a"); s.delta("b", "z") }, "1+ 1:x 2+ 2:y 2:z 1=x 2=yz", "x\n\nyz", trace.Counts{}},
		{"short text that differs at once", func(s speech) { s.delta("a", "I-am"); s.repeats("b", "a"); s.whole("b", "I-was") }, "1+ 1:I-am 1=I-am 2+ 2:I-was 2=I-was", "I-amI-was", trace.Counts{}},
		{"superseding a text in two parts", func(s speech) {
			s.whole("a", long)
			s.repeats("b", "a")
			s.whole("b", long+"-jumps")
			s.repeats("c", "b")
			s.whole("c", long+"-runs")
		}, "1+ 1:" + long + " 1=" + long + " 2+ 2:-jumps 2=-jumps 2!-jumps 1!" + long + " 3+ 3:" + long + "-runs 3=" + long + "-runs", long + "-runs", trace.Counts{}},
		{"two retries of one part", func(s speech) {
			s.delta("a", long)
			s.repeats("b", "a")
			s.repeats("c", "a")
			s.whole("b", long[:17]+"-dog")
			s.whole("c", long[:17]+"-cat")
		}, "1+ 1:" + long + " 1!" + long + " 2+ 2:" + long[:17] + "-dog 2=" + long[:17] + "-dog 2!" + long[:17] + "-dog 3+ 3:" + long[:17] + "-cat 3=" + long[:17] + "-cat", long[:17] + "-cat", trace.Counts{}},
		{"one key for every step, and a retry of the second", func(s speech) {
			s.delta("", "I-will-read-the-file.")
			s.StepEnd()
			s.delta("", "I-will-read-the-other")
			s.repeats("b", "")
			s.delta("b", "I-will-read-the-")
			s.delta("b", "other-file")
		}, "1+ 1:I-will-read-the-file. 1=I-will-read-the-file. 2+ 2:I-will-read-the-other 2:-file 2=I-will-read-the-other-file", "I-will-read-the-other-file", trace.Counts{}},
		{"one key for every step, and an exact retry", func(s speech) {
			s.delta("", "I-will-read-the-file.")
			s.StepEnd()
			s.delta("", "I-will")
			s.repeats("b", "")
			s.whole("b", "I-will")
		}, "1+ 1:I-will-read-the-file. 1=I-will-read-the-file. 2+ 2:I-will 2=I-will", "I-will", trace.Counts{}},
		{"a retry of what a step cut in two", func(s speech) {
			s.delta("a", "the-quick-")
			s.StepEnd()
			s.delta("a", "brown-fox")
			s.repeats("b", "a")
			s.whole("b", "the-quick-brown-dog")
		}, "1+ 1:the-quick- 1=the-quick- 2+ 2:brown-fox 2!brown-fox 1!the-quick- 3+ 3:the-quick-brown-dog 3=the-quick-brown-dog", "the-quick-brown-dog", trace.Counts{}},
		{"retries of both ends of a text", func(s speech) {
			s.whole("a", long)
			s.repeats("b", "a")
			s.whole("b", long+"-jumps")
			s.repeats("e", "a")
			s.whole("e", "the-quick-brown-dog")
			s.repeats("c", "b")
			s.whole("c", long+"-runs")
		}, "1+ 1:" + long + " 1=" + long + " 2+ 2:-jumps 2=-jumps 1!" + long + " 3+ 3:the-quick-brown-dog 3=the-quick-brown-dog 2!-jumps 4+ 4:" + long + "-runs 4=" + long + "-runs", "the-quick-brown-dog\n\n" + long + "-runs", trace.Counts{}},
		{"a slower retry says what was superseded", func(s speech) {
			s.whole("a", long)
			s.repeats("b", "a")
			s.repeats("c", "a")
			s.repeats("d", "a")
			s.whole("b", "the-quick-brown-dog")
			s.whole("c", long)
			s.whole("d", long+"-jumps")
		}, "1+ 1:" + long + " 1=" + long + " 1!" + long + " 2+ 2:the-quick-brown-dog 2=the-quick-brown-dog 2!the-quick-brown-dog 3+ 3:" + long + " 3=" + long + " 3!" + long + " 4+ 4:" + long + "-jumps 4=" + long + "-jumps", long + "-jumps", trace.Counts{}},
		{"cut in a character", func(s speech) {
			s.delta("a", long+"\xed\xa0\xbd")
			s.repeats("b", "a")
			s.delta("b", long+"\xed\xa0\xbd")
			s.delta("b", "\xed\xb8\x80!")
			s.end("b")
		}, "1+ 1:" + long + " 1:😀! 1=" + long + "😀!", long + "😀!", trace.Counts{}},
		{"goes on in the middle of a character", func(s speech) {
			s.delta("a", long)
			s.repeats("b", "a")
			s.delta("b", long+"x\xed\xa0\xbd")
			s.delta("b", "\xed\xb8\x80")
			s.end("b")
		}, "1+ 1:" + long + " 1:x 1:😀 1=" + long + "x😀", long + "x😀", trace.Counts{}},
		{"the failed part still grows", func(s speech) {
			s.delta("a", "on")
			s.repeats("b", "a")
			s.delta("b", "on")
			s.delta("a", "e")
			s.delta("b", "e!")
		}, "1+ 1:on 1:e 1:! 1=one!", "one!", trace.Counts{}},
		{"in a later step", func(s speech) {
			s.delta("a", long)
			s.StepStart(trace.Step{Name: "again"})
			s.repeats("b", "a")
			s.whole("b", long+"-jumps")
		}, "1+ 1:" + long + " 1=" + long + " 2+ 2:-jumps 2=-jumps", long + "-jumps", trace.Counts{}},
	})
	runTextCases(t, cases)
}

func TestASignatureBelongsToItsThought(t *testing.T) {
	t.Parallel()
	b, log := newTurn()
	b.ThoughtDelta("a", long)
	b.ThoughtRepeats("b", "a")
	b.Thought("b", long+"!", "sig")
	if err := b.Finish(trace.Stop{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range log.events {
		if th, ok := e.Payload.(trace.Thought); ok && th.Signature != "sig" {
			t.Errorf("%+v", th)
		}
	}
}

// TestAMessageIsReplaced: a client has shown the old text, so the record keeps the text and marks it.
func TestAMessageIsReplaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say  func(b *trace.Builder)
		want string
	}{
		"one that is over":     {func(b *trace.Builder) { b.Message("a", "one"); b.MessageReplace("a", "two") }, "1+ 1:one 1=one 1!one 2+ 2:two 2=two"},
		"one that is written":  {func(b *trace.Builder) { b.MessageDelta("a", "on"); b.MessageReplace("a", "two") }, "1+ 1:on 1!on 2+ 2:two 2=two"},
		"one that never began": {func(b *trace.Builder) { b.MessageReplace("a", "two") }, "1+ 1:two 1=two"},
		"twice": {func(b *trace.Builder) {
			b.Message("a", "one")
			b.MessageReplace("a", "two")
			b.MessageReplace("a", "two")
		}, "1+ 1:one 1=one 1!one 2+ 2:two 2=two"},
		"by the same":            {func(b *trace.Builder) { b.Message("a", "one"); b.MessageReplace("a", "one") }, "1+ 1:one 1=one"},
		"another one stays":      {func(b *trace.Builder) { b.Message("z", "zero"); b.Message("a", "one"); b.MessageReplace("a", "two") }, "1+ 1:zero 1=zero 2+ 2:one 2=one 2!one 3+ 3:two 3=two"},
		"by a text that goes on": {func(b *trace.Builder) { b.Message("a", "one"); b.MessageReplace("a", "one two") }, "1+ 1:one 1=one 1!one 2+ 2:one two 2=one two"},
	} {
		b, log := newTurn()
		c.say(b)
		if err := b.Finish(trace.Stop{Outcome: trace.OutcomeCompleted}); err != nil {
			t.Fatal(err)
		}
		if err := check(log.events); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := brief(log.events); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
