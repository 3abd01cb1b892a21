package cli

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tributary-dev/tributary/config"
)

// statefulSet is what the test reads of deploy/kubernetes/tributary.yaml.
type statefulSet struct {
	Spec struct {
		Template struct {
			Spec struct {
				Grace           int `yaml:"terminationGracePeriodSeconds"`
				SecurityContext struct {
					User int `yaml:"runAsUser"`
				} `yaml:"securityContext"`
				Containers []kubernetesContainer
			}
		}
		Claims []struct{ Metadata struct{ Name string } } `yaml:"volumeClaimTemplates"`
	}
}

type kubernetesContainer struct {
	Args []string
	Env  []struct {
		Name string
		From map[string]map[string]string `yaml:"valueFrom"`
	}
	Ports []struct {
		Name string
		Port int `yaml:"containerPort"`
	}
	Readiness struct {
		Get map[string]string `yaml:"httpGet"`
	} `yaml:"readinessProbe"`
	Security struct {
		ReadOnly bool `yaml:"readOnlyRootFilesystem"`
	} `yaml:"securityContext"`
	Mounts []struct {
		Name string
		Path string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

func TestTheKubernetesFileFitsTheImageAndTheProgram(t *testing.T) {
	t.Parallel()
	var set statefulSet
	var settings struct{ Data map[string]string }
	kinds := map[string]int{}
	for text := range strings.SplitSeq(repository(t, "deploy/kubernetes/tributary.yaml"), "\n---\n") {
		var is struct{ Kind string }
		if err := yaml.Unmarshal([]byte(text), &is); err != nil {
			t.Fatal(err)
		}
		kinds[is.Kind]++
		into := map[string]any{"StatefulSet": &set, "ConfigMap": &settings}[is.Kind]
		if into == nil {
			continue
		}
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	if kinds["PodDisruptionBudget"] != 1 || kinds["NetworkPolicy"] != 1 || kinds["Service"] != 2 {
		t.Errorf("the objects are %v", kinds)
	}
	c, err := config.Load(file(t, "tributary.yaml", settings.Data["tributary.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	last, _ := image(t)
	pod := set.Spec.Template.Spec
	gateway := pod.Containers[0]
	if serve := parsed(t, gateway.Args).Serve; serve.Cluster != "$(POD_IP):"+port(t, c.Cluster.Listen) {
		t.Errorf("other gateways are told the address %s, and this one listens on %s", serve.Cluster, c.Cluster.Listen)
	}
	ports := map[string]string{}
	for _, p := range gateway.Ports {
		ports[p.Name] = strconv.Itoa(p.Port)
	}
	if want := map[string]string{"http": port(t, c.Listen), "cluster": port(t, c.Cluster.Listen), "metrics": port(t, c.MetricsListen)}; !maps.Equal(ports, want) {
		t.Errorf("the ports are %v, and the gateway listens on %v", ports, want)
	}
	if port(t, c.Listen) != last["EXPOSE"].rest || !strings.HasPrefix(last["USER"].rest, strconv.Itoa(pod.SecurityContext.User)+":") || !gateway.Security.ReadOnly {
		t.Errorf("the port, the user or the file system is not that of the image: %+v", gateway)
	}
	if grace := time.Duration(pod.Grace) * time.Second; grace < c.Sessions.Drain+longestEnd-drainWithin {
		t.Errorf("the gateway has %s for its end, and needs up to %s", grace, c.Sessions.Drain+longestEnd-drainWithin)
	}
	if gateway.Readiness.Get["path"] != "/readyz" {
		t.Errorf("requests come while the gateway is not ready: %v", gateway.Readiness)
	}
	mounted := map[string]string{}
	for _, m := range gateway.Mounts {
		mounted[m.Path] = m.Name
	}
	for _, dir := range last["VOLUME"].words(t) {
		if !slices.ContainsFunc(set.Spec.Claims, func(c struct{ Metadata struct{ Name string } }) bool {
			return mounted[dir] == c.Metadata.Name
		}) {
			t.Errorf("%s does not outlive the pod: %v", dir, mounted)
		}
	}
	if mounted[last["WORKDIR"].rest] != "config" || c.Cwd != parsed(t, last["CMD"].words(t)).Serve.Cwd {
		t.Errorf("the configuration or the workspace is elsewhere in the image: %v, %s", mounted, c.Cwd)
	}
	secret := map[string]bool{}
	for _, e := range gateway.Env {
		secret[e.Name] = e.From["secretKeyRef"] != nil
	}
	if !secret["PGPASSWORD"] || !secret[c.Auth.Tokens[0].TokenEnv] {
		t.Errorf("the password or the token comes from no secret: %v", secret)
	}
}

func port(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func TestAGatewayOfAClusterSaysHowItIsReached(t *testing.T) {
	t.Parallel()
	const everywhere = "cluster: {listen: \"0.0.0.0:0\"}\nagents: {demo: {}}\n"
	alone := file(t, "alone.yaml", "agents: {demo: {}}\n")
	for _, c := range []struct {
		name, conf, want string
		args             []string
	}{
		{"nobody finds it", file(t, "everywhere.yaml", everywhere), "cluster has no address, and listens on all addresses of the machine: write in cluster.address, or after --cluster-address, how the other gateways reach this one, such as 10.0.0.11:8788", []string{"--db", "postgres://127.0.0.1:1/x"}},
		{"it is alone", file(t, "everywhere.yaml", everywhere), "cluster needs a database that several gateways use, and this gateway uses SQLite: set db to the URL of a PostgreSQL, or remove the section", []string{"--cluster-address", "a:1"}},
		{"it has no listener", alone, "--cluster-address is for several gateways: write the section cluster with its listen into the configuration, or leave the flag out", []string{"--cluster-address", "a:1"}},
		{"it has no port", alone, `--cluster-address is "a": write host:port`, []string{"--cluster-address", "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := command(t, "", append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--config", c.conf}, c.args...)...)
			if r.status == exitOK || !strings.Contains(r.errors, c.want) {
				t.Errorf("%d: %s\nwant %s", r.status, r.errors, c.want)
			}
		})
	}
}
