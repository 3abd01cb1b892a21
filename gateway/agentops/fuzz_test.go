package agentops_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/adapter/echo"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/session"
)

// A browser may send any bytes. The connection goes on, and all that comes back can be read.
func FuzzClientFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type":"prompt","content":"hello","attachments":[{"url":"data:image/png;base64,AA=="}],"threadId":"x"}`,
		`{"type":"answer","questionId":"q","answer":[]}`, `{"type":"queue.replace"}`, `{"type":5}`, `[`, `null`, `{"type":"ping","x":{"type":"prompt"}}`,
	} {
		f.Add([]byte(seed))
	}
	s := newStand(f, func(o *session.Options) {
		o.Default, o.Agents = "echo", map[string]session.Agent{"echo": {Runtime: echo.Runtime{}, Cwd: "."}}
	}, func(o *gateway.Options) { o.Limits.Requests = -1 })
	c := s.look("s")
	f.Fuzz(func(t *testing.T, data []byte) {
		c.t, c.seen, c.at = t, nil, 0
		c.send(string(data))
		if sent, err := wire.Decode(wire.FromBrowser, data); err == nil && sent == wire.Frame(wire.Ping{}) {
			frame[wire.Pong](c, nil)
		}
		c.send(`{"type":"ping"}`)
		frame[wire.Pong](c, nil)
	})
}
