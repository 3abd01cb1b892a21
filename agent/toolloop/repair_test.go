package toolloop_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/trace"
)

// turn plays a turn with a prompt, and keeps its records for the history.
func turn(t *testing.T, host *agenttest.Host, p agent.Prompt, do func(b *trace.Builder)) {
	t.Helper()
	r := host.Turn(p)
	do(r.Builder)
	r.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	stop, _ := r.Result()
	if err := r.Finish(stop); err != nil {
		t.Fatal(err)
	}
}

func history(t *testing.T, host *agenttest.Host) []toolloop.Message {
	t.Helper()
	past, err := toolloop.History(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	return past.Messages
}

func TestANoticeRepairsTheHistory(t *testing.T) {
	says := func(text string) func(*trace.Builder) { return func(b *trace.Builder) { b.Message("m", text) } }
	notice := func(code, text string) func(*trace.Builder) {
		return func(b *trace.Builder) { b.Emit(trace.Notice(code, text)) }
	}
	picture := prompt("look")
	picture.Message.Parts = append(picture.Message.Parts, trace.InputPart{Type: trace.InputFile, Filename: "a.png", URL: "data:image/png;base64,aGk="})
	for name, c := range map[string]struct {
		second agent.Prompt
		do     func(*trace.Builder)
		want   string
	}{
		"nothing":  {picture, says("two"), "user \"\" [{text one   }]\nassistant \"1\" []\nuser \"\" [{text look   } {file   data:image/png;base64,aGk= a.png}]\nassistant \"two\" []\n"},
		"left out": {picture, notice(toolloop.CodeLeftOut, "It is left out."), "user \"\" [{text one   }]\nassistant \"1\" []\n"},
		"left out, with one that had no answer": {
			prompt("again"), func(b *trace.Builder) { b.Thought("t", "Hm.", ""); notice(toolloop.CodeLeftOut, "It is left out.")(b) },
			"user \"\" [{text one   }]\nassistant \"1\" []\n",
		},
		"left out, behind words": {
			picture, func(b *trace.Builder) { says("two")(b); notice(toolloop.CodeLeftOut, "It is left out.")(b) },
			"user \"\" [{text one   }]\nassistant \"1\" []\nuser \"\" [{text look   } {file   data:image/png;base64,aGk= a.png}]\nassistant \"two\" []\n",
		},
		"files as words": {
			picture, func(b *trace.Builder) { says("two")(b); notice(toolloop.CodeFilesAsWords, "In words.")(b) },
			"user \"\" [{text one   }]\nassistant \"1\" []\nuser \"\" [{text look   } {text [The user attached the file a.png of type image/png, which cannot be passed on.]   }]\nassistant \"two\" []\n",
		},
		"a summary": {
			picture, func(b *trace.Builder) {
				b.Emit(toolloop.SummaryNotice("Summarised.", "They said one.\n\nAnd 1."))
				says("two")(b)
			},
			"user \"\" [{text Summary of the conversation before this message:\n\nThey said one.\n\nAnd 1.   } {text look   } {file   data:image/png;base64,aGk= a.png}]\nassistant \"two\" []\n",
		},
		"no notice": {
			picture, func(b *trace.Builder) {
				b.Emit(trace.Error{Code: toolloop.CodeLeftOut, Message: "A failure."})
				says("two")(b)
			},
			"user \"\" [{text one   }]\nassistant \"1\" []\nuser \"\" [{text look   } {file   data:image/png;base64,aGk= a.png}]\nassistant \"two\" []\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			host := agenttest.NewHost()
			turn(t, host, prompt("one"), says("1"))
			if c.second.Message.Parts[0].Text == "again" {
				turn(t, host, picture, func(*trace.Builder) {})
			}
			turn(t, host, c.second, c.do)
			if got := outline(history(t, host)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
