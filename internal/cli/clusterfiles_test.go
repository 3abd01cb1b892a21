package cli

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/config"
)

// clusterFiles are the gateways of deploy/cluster by their names, and the configuration of each.
func clusterFiles(t *testing.T) (f composeFile, c config.Config, gateways []string) {
	t.Helper()
	f = composed(t, "deploy/cluster/compose.yaml")
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		if strings.HasPrefix(name, "gateway-") {
			gateways = append(gateways, name)
		}
	}
	c, err := config.Load("../../deploy/cluster/tributary.yaml")
	if err != nil || c.Cluster == nil || len(gateways) != 3 {
		t.Fatalf("%q: %+v, %v", gateways, c, err)
	}
	return f, c, gateways
}

func TestTheFilesOfTheClusterFitTheImageAndTheProgram(t *testing.T) {
	t.Parallel()
	f, c, gateways := clusterFiles(t)
	last, _ := image(t)
	seen := map[string]bool{}
	for _, name := range gateways {
		g := f.Services[name]
		f.fits(t, "deploy/cluster", g, c.Listen, c.Cwd, c.DB)
		address := parsed(t, g.Command).Serve.Cluster
		inner, at, _ := strings.Cut(address, ":")
		if !slices.Equal(g.Networks["inner"].Aliases, []string{inner}) || at != port(t, c.Cluster.Listen) {
			t.Errorf("%s is at %s in the inner network, and others are told %s", name, g.Networks["inner"].Aliases, address)
		}
		i := slices.IndexFunc(g.Volumes, func(v string) bool { return strings.HasSuffix(v, ":/var/lib/tributary") })
		if i < 0 || seen[g.Volumes[i]] || seen[address] {
			t.Errorf("%s has the data directory or the address of another one", name)
		} else {
			seen[g.Volumes[i]], seen[address] = true, true
		}
		if !slices.Contains(g.Volumes, "./tributary.yaml:"+last["WORKDIR"].rest+"/tributary.yaml:ro") || len(g.Ports) > 0 {
			t.Errorf("%s has another configuration, or is reached around the balancer: %q, %q", name, g.Volumes, g.Ports)
		}
		if g.Environment[c.Auth.Tokens[0].TokenEnv] == "" {
			t.Errorf("%s has no %s", name, c.Auth.Tokens[0].TokenEnv)
		}
	}
	balancer, database := f.Services["balancer"], f.Services["postgres"]
	balancer.confined(t)
	if _, inner := balancer.Networks["inner"]; inner || !f.Networks["inner"].Internal || len(database.Networks) != 1 {
		t.Errorf("others than gateways reach the database and what gateways tell each other: %v, %v", balancer.Networks, database.Networks)
	}
	if !slices.Equal(balancer.Ports, []string{"127.0.0.1:8787:8787"}) || !strings.Contains(repository(t, "deploy/cluster/Caddyfile"), "\n:8787 {") {
		t.Errorf("the balancer does not listen on the port that is published: %q", balancer.Ports)
	}
}

// Three gateways with the settings of these files take requests from the balancer of these files: with one token, each for
// the sessions of the others, and without a failure when one ends.
func TestTheGatewaysOfTheClusterFilesWorkAsOne(t *testing.T) {
	t.Parallel()
	f, c, gateways := clusterFiles(t)
	const token = "the-token-of-all-0123456789"
	conf := changed(t, repository(t, "deploy/cluster/tributary.yaml"),
		c.DB, postgres.Database(t), "token_env: "+c.Auth.Tokens[0].TokenEnv, "token_file: "+file(t, "token", token),
		c.MetricsListen, "127.0.0.1:0", "demo: {}", "demo: {options: {pace: 50ms}}", "172.16.0.0/12", "127.0.0.1")
	at := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	balanced := changed(t, repository(t, "deploy/cluster/Caddyfile"), "\n:8787 {", "\nhttp://"+at+" {")
	var all []*server
	for _, name := range gateways {
		address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
		args := slices.Clone(f.Services[name].Command[1:])
		args[slices.Index(args, parsed(t, f.Services[name].Command).Serve.Cluster)] = address
		s := startServer(t, t.TempDir(), append(args, "--config", file(t, "tributary.yaml", changed(t, conf, c.Cluster.Listen, address)))...)
		if s.token != "" {
			t.Errorf("%s has made a token that the others do not know", name)
		}
		s.token = token
		all = append(all, s)
		balanced = changed(t, balanced, name+":8787", strings.TrimPrefix(s.base, "http://"))
	}
	i := slices.IndexFunc(proxies(), func(p proxy) bool { return p.name == "caddy" })
	dir := t.TempDir()
	caddyfile := filepath.Join(dir, "Caddyfile")
	if err := writePrivate(caddyfile, "{\n    admin off\n}\n"+balanced); err != nil {
		t.Fatal(err)
	}
	proxies()[i].listens(t, dir, caddyfile, at)
	behind := *all[0]
	behind.base = "http://" + at
	turn := all[0].running("s", "slow")
	defer turn.Body.Close()
	for range all {
		if status, body := behind.do("GET", "/api/sessions/s", ""); status != http.StatusOK || !strings.Contains(body, `"state":"running"`) {
			t.Errorf("a session of a gateway behind the balancer: %d %s", status, body)
		}
	}
	for i, s := range all[1:] {
		if n := s.metrics()["tributary_forwards_total"].GetMetric()[0].GetCounter().GetValue(); n < 1 {
			t.Errorf("the balancer has asked gateway %d for nothing", i+2)
		}
	}
	if status, body := behind.do("POST", "/api/chat/s/stop", ""); status != http.StatusOK || !strings.Contains(body, `"stopped":true`) {
		t.Errorf("the stop: %d %s", status, body)
	}
	all[1].stop()
	for range 2 * len(all) {
		if status, body := behind.do("GET", "/api/sessions/s", ""); status != http.StatusOK {
			t.Fatalf("a gateway has ended, and a client notices: %d %s", status, body)
		}
	}
}
