//go:build unix

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

// A room is where one case happens: a model, a home and a workspace that no
// other case has touched. Its folder always has the same name, so that the ids,
// in which prompts take part, come out the same each time.
type room struct {
	claude string
	out    string // folder of the recordings
	base   string
	model  *scriptedmodel.Server
	url    string
	server *http.Server
	served chan struct{}
}

func newRoom(claude, out string) (*room, error) {
	tmp, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return nil, err
	}
	base := filepath.Join(tmp, "record-claude")
	if err := os.Mkdir(base, 0o700); err != nil {
		return nil, fmt.Errorf("remove %s, unless another recorder is at work: %w", base, err)
	}
	r := &room{claude: claude, out: out, base: base, model: scriptedmodel.New(scriptedmodel.Options{}), served: make(chan struct{})}
	for _, dir := range []string{r.home(), r.workspace(), r.tmp()} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, errors.Join(err, os.RemoveAll(base))
		}
	}
	if err := os.WriteFile(r.path("hello.txt"), []byte(realagent.HelloText), 0o644); err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	r.url = "http://" + l.Addr().String()
	r.server = &http.Server{Handler: r.model}
	go func() {
		defer close(r.served)
		_ = r.server.Serve(l) // ends with close
	}()
	return r, nil
}

func (r *room) close() {
	_ = r.server.Close()
	<-r.served
	_ = os.RemoveAll(r.base)
}

func (r *room) home() string            { return filepath.Join(r.base, "home") }
func (r *room) workspace() string       { return filepath.Join(r.base, "workspace") }
func (r *room) tmp() string             { return filepath.Join(r.base, "tmp") }
func (r *room) path(name string) string { return filepath.Join(r.workspace(), name) }
