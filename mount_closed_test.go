package tributary_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary"
	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/session"
)

// curious is an agent that reads a file when it opens.
type curious struct {
	read   chan error
	closed chan []string
}

func (c curious) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	_, _, err := host.Files().ReadFile("key.pem")
	c.read <- err
	c.closed <- cfg.Closed
	return nil, errors.New("that is all")
}

// Describe implements agent.Describer: the agent reads by its host, which denies.
func (curious) Describe() (agent.Adapter, agent.Settings) {
	return agent.Adapter{Name: "curious", KeepsClosed: true}, agent.Settings{}
}

// The program that mounts a gateway names the files that no agent may read.
//
//evidence:for promise-closed
func TestAMountedGatewayClosesTheFilesOfItsServer(t *testing.T) {
	t.Parallel()
	cwd := t.TempDir()
	key := filepath.Join(cwd, "key.pem")
	if err := os.WriteFile(key, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := curious{make(chan error, 1), make(chan []string, 1)}
	g, err := tributary.New(t.Context(), tributary.Options{
		Sessions: session.Options{Default: "curious", Closed: []string{key}, Agents: map[string]session.Agent{"curious": {Runtime: c, Cwd: cwd}}},
		Who: func(*http.Request) (access.Principal, bool) {
			return access.Principal{ID: "ada", Role: access.Collaborator}, true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/chat", strings.NewReader(`{"id":"s","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"x"}]}]}`))
	r.Header.Set("Content-Type", "application/json")
	g.ServeHTTP(httptest.NewRecorder(), r)
	if err := <-c.read; !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("the agent reads the key: %v", err)
	}
	if closed := <-c.closed; !slices.Contains(closed, key) {
		t.Errorf("the adapter does not hear of the key: %q", closed)
	}
	if err := g.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
