package agentkit

import (
	"context"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// link brings a prompt to a process.
type link struct {
	s      *processSession
	b      *trace.Builder
	prompt agent.Prompt
	p      *process
	unsent bool // the process takes no line
}

var _ Link = (*link)(nil)

// Connect implements Link.
func (l *link) Connect(ctx context.Context) (Connection, error) {
	p, err := l.s.running(ctx)
	if err != nil {
		return Connection{}, err
	}
	l.p = p
	return Connection{Lost: p.done}, nil
}

// Send implements Link. A process that takes no line is ended, so that Run finds out.
func (l *link) Send(ctx context.Context) error {
	line, err := l.p.protocol.Prompt(ctx, l.prompt)
	if err != nil {
		return err
	}
	l.unsent = false
	return l.s.sendBy(ctx, line, always, func(ctx context.Context, line []byte) error {
		if err := l.p.WriteLine(ctx, line); err != nil && ctx.Err() == nil {
			l.unsent = true
			_ = l.p.Close()
		}
		return nil
	})
}

// Stop implements Link.
func (l *link) Stop(ctx context.Context) error {
	return Conn{s: l.s, p: l.p}.Send(ctx, l.p.protocol.Stop())
}

// Cut implements Link.
func (l *link) Cut() {
	l.p.Terminate()
	_ = l.p.Close()
	<-l.p.done
}

// Lost implements Link.
func (l *link) Lost(lost Loss) (again bool, end trace.Stop) {
	lost.Unsent = l.unsent
	return l.s.Once(lost, l.b, func() trace.Stop { return l.s.death(l.p) })
}
