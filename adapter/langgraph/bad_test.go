package langgraph_test

import (
	"net/http"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote/remotetest"
)

func TestBadServers(t *testing.T) {
	remotetest.BadServers(t, remotetest.Upstream{
		Handler: func(t *testing.T) http.Handler { return newFake(t).Config.Handler },
		Open: func(url string) (agent.Runtime, error) {
			r := langgraph.Runtime{URL: url}
			r.Assistant = "agent"
			return r, nil
		},
	})
}
