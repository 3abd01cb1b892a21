package uiendpoint_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/remote/remotetest"
)

func TestBadServers(t *testing.T) {
	remotetest.BadServers(t, remotetest.Upstream{
		Handler: func(t *testing.T) http.Handler { return newFake(t).handler },
		Open: func(address string) (agent.Runtime, error) {
			at, err := url.Parse(address)
			return uiendpoint.Runtime{URL: at.JoinPath("api", "chat").String()}, err
		},
	})
}
