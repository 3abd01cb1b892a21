package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

func TestAnEditThatIsNotOnRecordWarnsOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := newBadLog()
		b := benchOn(t, eventlog.New(bad), with(t, scripted{prompt: func(_ context.Context, _ agent.Host, _ agent.Prompt, b *trace.Builder) error {
			b.Message("1", "hello")
			return nil
		}}))
		defer b.close()
		b.wait(b.say("u1", "hello"))
		synctest.Wait()
		bad.on(func(string, []trace.Event) error { return errDisk })
		if _, err := b.Prompt(t.Context(), "s", session.Prompt{Message: text("u1", "edited"), By: "ada"}); !errors.Is(err, session.ErrLog) {
			t.Fatal(err)
		}
		bad.on(nil)
		for _, r := range b.wait(b.say("u2", "more")) {
			if e, is := r.Payload.(trace.Error); is {
				t.Errorf("the next turn warns: %s %s", e.Code, e.Message)
			}
		}
	})
}
