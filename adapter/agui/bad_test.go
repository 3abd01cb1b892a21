package agui_test

import (
	"net/http"
	"testing"

	"github.com/tributary-dev/tributary/adapter/agui"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote/remotetest"
)

func TestBadServers(t *testing.T) {
	remotetest.BadServers(t, remotetest.Upstream{
		Handler: func(t *testing.T) http.Handler { return newFake(t, nil).Config.Handler },
		Open:    func(url string) (agent.Runtime, error) { return agui.Runtime{URL: url}, nil },
	})
}
