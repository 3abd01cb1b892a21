// Package modeltest starts a scripted model for a Go test.
package modeltest

import (
	"net/http/httptest"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

// Model is a scripted model that listens on loopback until its test is over.
type Model struct {
	*scriptedmodel.Server
	URL string // base URL, without a slash at its end
}

// Start starts a model on a free port; the end of the test ends it, and cuts
// answers that are still being sent.
func Start(tb testing.TB, opts scriptedmodel.Options) *Model {
	tb.Helper()
	model := scriptedmodel.New(opts)
	server := httptest.NewServer(model)
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return &Model{Server: model, URL: server.URL}
}

// Asked returns the bodies of all requests for an answer so far, one a line.
func (m *Model) Asked() (bodies []byte) {
	for _, r := range m.Requests() {
		if r.Kind == "answer" {
			bodies = append(append(bodies, r.Body...), '\n')
		}
	}
	return bodies
}
