package cli

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/policy/box"
)

// gatewayOfOne is a gateway on loopback, whose configuration names one person.
type gatewayOfOne struct{ data, conf string }

// served starts the gateway and returns the boxes of its agents, as GET /api/agents says.
func (g gatewayOfOne) served(t *testing.T) map[string]box.Form {
	t.Helper()
	s := startServerAsIs(t, g.data, "--config", g.conf)
	defer s.stop()
	token := strings.TrimSpace(command(t, "", "token", "reset", "--data", g.data).out)
	status, body := s.withToken(token, "GET", "/api/agents", "")
	var answer struct {
		Agents []struct {
			Name string   `json:"name"`
			Box  box.Form `json:"box"`
		} `json:"agents"`
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s: %v", status, body, err)
	}
	boxes := map[string]box.Form{}
	for _, a := range answer.Agents {
		boxes[a.Name] = a.Box
	}
	return boxes
}

// listed are the boxes of the agents, as `tributary agents` says.
func (g gatewayOfOne) listed(t *testing.T) (boxes map[string]box.Form, errors string) {
	t.Helper()
	var all []agentStatus
	r := command(t, "", "agents", "--json", "--config", g.conf)
	if err := json.Unmarshal([]byte(r.out), &all); err != nil {
		t.Fatalf("%v: %s %s", err, r.out, r.errors)
	}
	boxes = map[string]box.Form{}
	for _, a := range all {
		if !strings.HasPrefix(a.Problem, "not configured: ") {
			boxes[a.Name] = a.Box
		}
	}
	return boxes, r.errors
}

func (g gatewayOfOne) creates(t *testing.T, args ...string) result {
	t.Helper()
	return command(t, "", append([]string{"token", "create", "ci", "--data", g.data}, args...)...)
}

// With a created token the next start counts several people: for the boxes, the agents that are
// offered, the warnings and the admin token. The commands beside the gateway say the same.
func TestACreatedTokenMakesSeveralPeople(t *testing.T) {
	t.Parallel()
	if err := box.Available(box.Strict); err != nil {
		t.Skip("no strict box can be had here: ", err)
	}
	const warning = "every collaborator may approve its commands"
	data := filepath.Join(t.TempDir(), "data")
	g := gatewayOfOne{data, file(t, "t.yaml", "data: "+data+"\ncwd: "+t.TempDir()+"\nauth: {approver: collaborator}\nagents: {claude: {command: /no/such}, demo: {}}\n")}
	same := func(want map[string]box.Form, warns bool) {
		t.Helper()
		listed, _ := g.listed(t)
		if d := cmp.Diff(want, listed); d != "" {
			t.Errorf("tributary agents: %s", d)
		}
		if check := command(t, "", "config", "check", "--config", g.conf); check.status != exitOK || strings.Contains(check.errors, warning) != warns {
			t.Errorf("config check: %d %s", check.status, check.errors)
		}
		if d := cmp.Diff(want, g.served(t)); d != "" {
			t.Errorf("GET /api/agents: %s", d)
		}
	}
	one, more := map[string]box.Form{"claude": box.Guard, "demo": ""}, map[string]box.Form{"claude": box.Strict, "demo": ""}
	same(one, false) // there is no data directory yet
	same(one, false)
	g.creates(t).want(t, exitOK, "The next start of the gateway counts several people")
	same(more, true)
	command(t, "", "token", "--data", data).want(t, exitFailed, "keeps its hash only")
	command(t, "", "token", "revoke", "ci", "--data", data).want(t, exitOK, "")
	same(one, false)
}

// Without a section agents, a gateway with a created token offers no agent that runs commands.
func TestAGatewayWithACreatedTokenOffersWhatTheConfigurationNames(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	g := gatewayOfOne{data, file(t, "t.yaml", "data: "+data+"\ncwd: "+t.TempDir()+"\n")}
	if _, there := g.served(t)["claude"]; !there {
		t.Error("one person is not offered claude")
	}
	g.creates(t).want(t, exitOK, "offers agents that act on this machine only if the configuration names them")
	want := map[string]box.Form{"demo": "", "echo": "", "runner": ""}
	if d := cmp.Diff(want, g.served(t)); d != "" {
		t.Errorf("GET /api/agents: %s", d)
	}
	listed, _ := g.listed(t)
	if d := cmp.Diff(want, listed); d != "" {
		t.Errorf("tributary agents: %s", d)
	}
	command(t, "", "serve", "--listen", "127.0.0.1:0", "--config", g.conf, "--agent", "claude").want(t, exitUsage, "the configuration does not offer it: write `agents: {claude: {}}` into it")
}

// Where the tokens cannot be read, an agent is shown in the box of a gateway that has some.
func TestTokensThatCannotBeReadMayBeThere(t *testing.T) {
	t.Parallel()
	if err := box.Available(box.Strict); err != nil {
		t.Skip("no strict box can be had here: ", err)
	}
	g := gatewayOfOne{t.TempDir(), file(t, "t.yaml", "data: "+t.TempDir()+"\ndb: 'postgres://u:secret@127.0.0.1:1/x'\nagents: {claude: {command: /no/such}}\n")}
	listed, errors := g.listed(t)
	if listed["claude"] != box.Strict || !strings.Contains(errors, "cannot be read, so the boxes are those of a gateway that has some") || strings.Contains(errors, "secret") {
		t.Errorf("the agents are %v: %s", listed, errors)
	}
}
