package opencode

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/remote"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Runtime runs OpenCode: a server for each session, or all sessions on one server that
// runs already.
type Runtime struct {
	// Name is the agent's name for people; "OpenCode" if empty.
	Name string
	// Command is the program, "opencode" if empty, and Args come after its own arguments.
	Command string
	Args    []string
	// Environ is the whole environment of the program; nil is an empty one.
	Environ []string
	// URL is the address of a server that runs already; "" starts one. Password is that
	// server's.
	URL, Password string
	Settings      Settings
	// Unguarded lets the settings files of workspaces count without a request.
	Unguarded bool
	// Tools says what the tools do; toolkind.OpenCode() if nil.
	Tools *toolkind.Table
	// StartTime, StopTime and CallTime bound a start, a stop and a call; 60 s, 5 s and
	// 30 s if zero.
	StartTime, StopTime, CallTime time.Duration
	// CheckTime is how long a running turn may be silent before the session reads the
	// messages; 15 s if zero.
	CheckTime time.Duration
}

// Settings are the options of the configuration.
type Settings struct {
	// Agent is the agent of OpenCode that answers, such as plan.
	Agent string `json:"agent"`
	// Directory is the workspace as an attached server sees it; "" is the server's own.
	Directory string `json:"directory"`
}

var (
	_ agent.Runtime  = Runtime{}
	_ agent.Prober   = Runtime{}
	_ agent.Rewinder = Runtime{}
)

// rules make the server ask about everything: the gateway's policy decides.
const rules = `{"*":"ask","bash":"ask","edit":"ask","read":"ask","glob":"ask","grep":"ask","list":"ask","task":"ask","skill":"ask","lsp":"ask",` +
	`"webfetch":"ask","websearch":"ask","codesearch":"ask","external_directory":"ask","doom_loop":"ask","todowrite":"allow","todoread":"allow","question":"allow"}`

// listening is the line of a server that is ready. A request that comes earlier is never
// answered.
var listening = regexp.MustCompile(`listening on (http://\S+)`)

// Rewinds implements agent.Rewinder.
func (r Runtime) Rewinds(token string) bool { return agentkit.Rewinds(token) }

// Open implements agent.Runtime.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	server := r.server()
	server.Dir, server.StateDir, server.Box = cfg.Cwd, cfg.StateDir, cfg.Box
	p := &protocol{Decoder: NewDecoder(Options{Tools: r.Tools, Product: strings.ToLower(r.name())}), rt: r, mode: r.Settings.Agent, model: cfg.Model}
	return remote.Open(ctx, host, cfg, remote.Spec{
		Name: r.name(), Feed: &remote.Feed{Server: server, Path: "/event", Heartbeat: heartbeat, CheckTime: r.CheckTime}, StopTime: r.StopTime,
		New: func(s *remote.Session) remote.Protocol { p.s = s; return p }, Greet: p.greet,
	})
}

func heartbeat(data []byte) bool {
	var e event
	return decode(data, &e) && e.Type == "server.heartbeat"
}

// server describes the server. Only those who know the random password may use a server
// that is started.
func (r Runtime) server() *remote.Server {
	spec := &remote.Server{
		Adapter: "opencode", URL: r.URL, Username: "opencode", Password: r.Password, CallTime: r.CallTime,
		Command: r.command(), Args: slices.Concat([]string{"serve", "--hostname", "127.0.0.1", "--port", "0"}, r.Args),
		Listening: listening, NotFound: r.notFound(), StartTime: r.StartTime,
	}
	if r.Settings.Directory != "" {
		spec.Query = url.Values{"directory": {r.Settings.Directory}}
	}
	if r.URL == "" {
		spec.Password = rand.Text()
		spec.Env = slices.Clone(r.Environ)
		for _, brand := range []string{"OPENCODE", "KILO"} {
			spec.Env = append(spec.Env, brand+"_PERMISSION="+rules, brand+"_SERVER_USERNAME=opencode", brand+"_SERVER_PASSWORD="+spec.Password)
		}
	}
	return spec
}

// Probe implements agent.Prober.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	if r.URL == "" {
		return agentkit.Spec{Adapter: "opencode", Name: r.name(), Command: r.command(), Env: r.Environ, NotFound: r.notFound()}.Probe(ctx)
	}
	server := r.server()
	defer server.Close()
	if err := server.Reach(ctx); err != nil {
		return "", err
	}
	return r.health(func(c remote.Call, out any) error {
		answer, err := server.Do(ctx, c, agent.Caller{})
		_ = json.Unmarshal(answer, out) // without a version, the server is none of OpenCode's
		return err
	})
}

// health returns the server's version, or an error if the server is none of OpenCode's.
func (r Runtime) health(fetch func(c remote.Call, out any) error) (string, error) {
	var out struct{ Version string }
	err := fetch(get("/global/health"), &out)
	refused, _ := errors.AsType[*httpjson.Error](err)
	switch {
	case refused != nil && refused.Status == http.StatusUnauthorized && r.URL != "":
		return "", fmt.Errorf("opencode: %s refuses the password: let token_env name a variable that holds the server's OPENCODE_SERVER_PASSWORD", refused.Server)
	case refused != nil && (refused.Status == http.StatusNotFound || refused.Status/100 == 2):
		return "", fmt.Errorf("opencode: the server at %s is no OpenCode server, or older than 1.18: update OpenCode, or correct the url", refused.Server)
	case err != nil:
		return "", err
	case out.Version == "":
		return "", errors.New("opencode: the server does not tell its version: is it OpenCode?")
	}
	return out.Version, nil
}

func (r Runtime) name() string    { return cmp.Or(r.Name, "OpenCode") }
func (r Runtime) command() string { return cmp.Or(r.Command, "opencode") }

func (r Runtime) notFound() error {
	return fmt.Errorf("%s was not found: install OpenCode with `npm install -g opencode-ai` (Kilo: @kilocode/cli), or correct the command of the agent", r.command())
}

// Takes implements agent.AnswerTaker.
func (Runtime) Takes() (input, reason bool) { return false, true }
