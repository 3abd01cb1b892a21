package uiendpoint_test

import (
	"net/http"
	"testing"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote/remotetest"
)

func TestBadServers(t *testing.T) {
	remotetest.BadServers(t, remotetest.Upstream{
		Handler: func(t *testing.T) http.Handler { return newFake(t).handler },
		Open:    func(url string) (agent.Runtime, error) { return uiendpoint.Runtime{URL: url + "/api/chat"}, nil },
	})
}
