package cli

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/tributary-dev/tributary/config"
	"github.com/tributary-dev/tributary/internal/testkit/installed"
	"github.com/tributary-dev/tributary/session/agentset"
)

// longestEnd is the longest orderly end of the gateway; a supervisor must not kill it before.
const longestEnd = drainWithin + 2*quitWithin + leaveWithin

func repository(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// parsed reads a command line as the program does.
func parsed(t *testing.T, args []string) commands {
	t.Helper()
	var c commands
	if _, _, err := line(&c).Parse(args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return c
}

// instruction is a line of a Dockerfile.
type instruction struct{ name, rest string }

func (i instruction) words(t *testing.T) (words []string) {
	t.Helper()
	if err := json.Unmarshal([]byte(i.rest[strings.Index(i.rest, "["):]), &words); err != nil {
		t.Fatalf("%s %s: %v", i.name, i.rest, err)
	}
	return words
}

// image returns the instructions of the Dockerfile: those of its last stage by name, and all.
func image(t *testing.T) (last map[string]instruction, all []instruction) {
	t.Helper()
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(repository(t, "deploy/Dockerfile"), "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		i := instruction{name, strings.TrimSpace(rest)}
		if name == "FROM" {
			last = map[string]instruction{}
		}
		last[name], all = i, append(all, i)
	}
	return last, all
}

func TestTheImageRunsWhatItBuildsAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	last, all := image(t)
	c := parsed(t, last["CMD"].words(t))
	if c.Serve.Listen != "0.0.0.0:"+last["EXPOSE"].rest {
		t.Errorf("the gateway listens on %s, and the image exposes %s", c.Serve.Listen, last["EXPOSE"].rest)
	}
	check := last["HEALTHCHECK"].words(t)
	if health := parsed(t, check[1:]); check[0] != "tributary" || check[1] != "health" || localURL("http", defaultListen) != (reach{URL: health.Health.URL}).at(config.Config{}) || !strings.HasSuffix(defaultListen, ":"+last["EXPOSE"].rest) {
		t.Errorf("the health check %q asks elsewhere", check)
	}
	user, _, _ := strings.Cut(last["USER"].rest, ":")
	if !regexp.MustCompile(`^[1-9]\d+$`).MatchString(user) || !strings.Contains(last["RUN"].rest, "useradd --uid "+user+" ") {
		t.Errorf("the user is %q", last["USER"].rest) // a number, for hosts that check that it is not root
	}
	base, _ := strings.CutPrefix(last["ENV"].rest, "XDG_DATA_HOME=")
	volumes := last["VOLUME"].words(t)
	for _, dir := range []string{base + "/tributary", c.Serve.Cwd, "/home/tributary"} { // agents keep logins and memory in the home
		if !slices.Contains(volumes, dir) || !strings.Contains(last["RUN"].rest, dir) {
			t.Errorf("%s is no volume that the user may write: %q", dir, volumes)
		}
	}
	if home := last["WORKDIR"].rest; agentset.Within(home, c.Serve.Cwd) || strings.Contains(last["RUN"].rest, "-o tributary -g tributary "+home) {
		t.Errorf("the configuration would be %s/tributary.yaml, which agents may write", home)
	}
	from, to, _ := strings.Cut(strings.TrimPrefix(last["COPY"].rest, "--from=build "), " ")
	i := slices.IndexFunc(all, func(i instruction) bool { return strings.Contains(i.rest, "go build") })
	if i < 0 || !strings.Contains(all[i].rest, "-o "+from+" ./cmd/tributary") || to != "/usr/local/bin/tributary" {
		t.Errorf("%s is not what is built: %q", from, all[i].rest)
	}
	if !strings.Contains(all[i].rest, "-X github.com/tributary-dev/tributary/internal/cli.released=$VERSION") || !strings.Contains(repository(t, "internal/cli/version.go"), "\nvar released string") {
		t.Error("the program of the image does not know its version")
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(repository(t, "go.mod"))[1]
	if !strings.Contains(all[0].rest, "golang:"+version+"-") {
		t.Errorf("go.mod wants Go %s, and the image is %s", version, all[0].rest)
	}
	if last["ENTRYPOINT"].words(t)[0] != "tributary" {
		t.Errorf("the entry point is %v", last["ENTRYPOINT"])
	}
}

func TestTheBuildOfTheImageSeesTheFilesThatAreCompiledIn(t *testing.T) {
	t.Parallel()
	ignore := strings.Split(strings.TrimSpace(repository(t, ".dockerignore")), "\n")
	for _, want := range []string{"*", "!go.mod", "!go.sum", "!**/*.go", "!**/*.sql", "!web/dist", "!eval/run/example", "!eval/report/page.html"} {
		if !slices.Contains(ignore, want) {
			t.Errorf(".dockerignore lacks %s", want)
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", `{{if not .Standard}}{{if .Module.Main}}{{range .EmbedFiles}}{{$.ImportPath}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "../../cmd/tributary").Output()
	if err != nil || len(out) == 0 {
		t.Fatalf("no embedded files: %v", err)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimPrefix(strings.TrimSpace(file), "github.com/tributary-dev/tributary/")
		if !strings.HasPrefix(file, "web/dist/") && !strings.HasPrefix(file, "eval/run/example/") && file != "eval/report/page.html" && !strings.HasSuffix(file, ".sql") {
			t.Errorf("%s is compiled in, and .dockerignore leaves it out", file)
		}
	}
}

// composeFile is what the tests read of a compose file.
type composeFile struct {
	Services map[string]composeService
	Networks map[string]struct{ Internal bool }
	Volumes  map[string]any
}

type composeService struct {
	Command     []string
	Build       struct{ Context, Dockerfile string }
	Environment map[string]string
	Ports       []string
	Volumes     []string
	Networks    map[string]struct{ Aliases []string }
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	Healthcheck struct{ Test []string }
	Grace       string `yaml:"stop_grace_period"`
	ReadOnly    bool   `yaml:"read_only"`
	Tmpfs       []string
	Drop        []string `yaml:"cap_drop"`
	Security    []string `yaml:"security_opt"`
}

func composed(t *testing.T, name string) (f composeFile) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(repository(t, name)), &f); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Services {
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			if _, declared := f.Volumes[from]; !declared && !strings.HasPrefix(from, "./") {
				t.Errorf("the volume %s is not declared", from)
			}
		}
		for variable, value := range s.Environment {
			if regexp.MustCompile(`PASSWORD|TOKEN`).MatchString(variable) && !regexp.MustCompile(`^\$\{[A-Z_]+:\?[^}]+\}$`).MatchString(value) {
				t.Errorf("%s is written down, or may be empty: %s", variable, value)
			}
		}
	}
	return f
}

// fits checks a gateway of the file, in the folder dir, that listens, works and keeps its log as the settings say.
func (f composeFile) fits(t *testing.T, dir string, gateway composeService, listen, cwd, db string) {
	t.Helper()
	last, _ := image(t)
	if b := gateway.Build; filepath.Join(dir, b.Context) != "." || b.Dockerfile != "deploy/Dockerfile" {
		t.Errorf("compose builds another image: %+v", b)
	}
	u, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	database, there := f.Services[u.Hostname()]
	if !there || database.Environment["POSTGRES_USER"] != u.User.Username() || "/"+database.Environment["POSTGRES_DB"] != u.Path {
		t.Errorf("the database of %s is no service: %+v", db, database)
	}
	if gateway.Environment["PGPASSWORD"] != database.Environment["POSTGRES_PASSWORD"] || gateway.Environment["PGPASSWORD"] == "" {
		t.Error("the passwords of the gateway and of the database differ")
	}
	if gateway.DependsOn[u.Hostname()].Condition != "service_healthy" || len(database.Healthcheck.Test) == 0 || len(database.Ports) > 0 {
		t.Error("the gateway does not wait for the database, or others reach that")
	}
	if standard := parsed(t, last["CMD"].words(t)).Serve; cwd != standard.Cwd {
		t.Errorf("agents work in %s, and in %s without compose", cwd, standard.Cwd)
	}
	if listen != "0.0.0.0:"+last["EXPOSE"].rest {
		t.Errorf("the gateway listens on %s", listen)
	}
	for _, volume := range gateway.Volumes {
		from, at, _ := strings.Cut(volume, ":")
		if !strings.HasPrefix(from, "./") && !slices.Contains(last["VOLUME"].words(t), at) {
			t.Errorf("%s is no volume of the image", at)
		}
	}
	for _, dir := range last["VOLUME"].words(t) { // what is to outlive the container
		kept := func(v string) bool { return strings.HasSuffix(v, ":"+dir) }
		if !slices.ContainsFunc(gateway.Volumes, kept) || slices.Contains(gateway.Tmpfs, dir) {
			t.Errorf("%s does not outlive the container: %q, and in memory %q", dir, gateway.Volumes, gateway.Tmpfs)
		}
		if page := repository(t, "docs/deploy/docker.md"); !strings.Contains(page, ":"+dir+" ") || !strings.Contains(page, "| `"+dir+"` |") {
			t.Errorf("the page about Docker does not keep %s", dir)
		}
	}
	if grace, err := time.ParseDuration(gateway.Grace); err != nil || grace < longestEnd {
		t.Errorf("the gateway has %s for its end, and needs up to %s", gateway.Grace, longestEnd)
	}
	gateway.confined(t)
}

// confined checks that the service can write to its volumes only, and gets no more rights.
func (s composeService) confined(t *testing.T) {
	t.Helper()
	if !s.ReadOnly || !slices.Equal(s.Drop, []string{"ALL"}) || !slices.Equal(s.Security, []string{"no-new-privileges:true"}) {
		t.Errorf("a service may do more than it needs: %+v", s)
	}
}

func TestTheComposeFileFitsTheImageAndTheProgram(t *testing.T) {
	t.Parallel()
	f := composed(t, "deploy/compose.yaml")
	gateway := f.Services["tributary"]
	serve := parsed(t, gateway.Command).Serve
	if err := config.CheckDB(serve.DB); err != nil {
		t.Errorf("--db %v", err)
	}
	f.fits(t, "deploy", gateway, serve.Listen, serve.Cwd, serve.DB)
	if !slices.Equal(gateway.Ports, []string{"127.0.0.1:8787:" + port(t, serve.Listen)}) {
		t.Errorf("the ports are %q, and the gateway listens on %s", gateway.Ports, serve.Listen)
	}
}

// unit returns the settings of the unit file.
func unit(t *testing.T) (text string, settings map[string]string) {
	t.Helper()
	text, settings = repository(t, "deploy/debian/tributary.service"), map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			settings[key] = value
		}
	}
	return text, settings
}

func TestTheUnitStartsTheGatewayWithThePackagesFiles(t *testing.T) {
	t.Parallel()
	_, settings := unit(t)
	words := strings.Fields(settings["ExecStart"])
	serve := parsed(t, words[1:]).Serve
	var release struct {
		NFPMs []struct {
			Contents []struct{ Src, Dst string }
		} `yaml:"nfpms"`
	}
	if err := yaml.Unmarshal([]byte(repository(t, ".goreleaser.yaml")), &release); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range release.NFPMs[0].Contents {
		files[f.Dst] = f.Src
		if !strings.HasPrefix(f.Src, "bin/package/") { // generate.sh makes those
			repository(t, f.Src)
		}
	}
	source, packed := files[serve.Config]
	if !packed || words[0] != "/usr/bin/tributary" {
		t.Fatalf("the package has no %s", serve.Config)
	}
	c, err := config.Load(filepath.Join("..", "..", source))
	if err != nil {
		t.Fatal(err)
	}
	state := strings.Fields(settings["StateDirectory"])
	for _, dir := range []string{c.Data, c.Cwd, settings["WorkingDirectory"]} {
		if !slices.Contains(state, strings.TrimPrefix(dir, "/var/lib/")) && filepath.Dir(dir) != settings["ReadWritePaths"] {
			t.Errorf("the service cannot write %s: %q", dir, state)
		}
	}
	agents := strings.TrimPrefix(settings["ReadWritePaths"], "/var/lib/")
	if want := "u " + agents + " "; c.AgentUser != agents || !strings.Contains(repository(t, files["/usr/lib/sysusers.d/tributary.conf"]), want) {
		t.Errorf("the package has no user %q for agents", agents)
	}
	for _, dir := range []string{settings["ReadWritePaths"] + " 0750", c.Cwd + " 0770"} { // the gateway is in their group
		if !strings.Contains(repository(t, files["/usr/lib/tmpfiles.d/tributary.conf"]), "d "+dir+" "+agents+" "+agents+"\n") {
			t.Errorf("the package does not make %s", dir)
		}
	}
	if lines := strings.Split(repository(t, files["/usr/lib/sysusers.d/tributary.conf"]), "\n"); !strings.HasPrefix(lines[0], "u "+settings["User"]+" ") || !slices.Contains(lines, "m "+settings["User"]+" "+agents) || slices.Contains(lines, "m "+agents+" "+settings["User"]) {
		t.Errorf("the package makes no user %s who is in the group %s", settings["User"], agents)
	}
	if seconds, err := time.ParseDuration(settings["TimeoutStopSec"] + "s"); err != nil || seconds < longestEnd {
		t.Errorf("the gateway has %ss for its end, and needs up to %s", settings["TimeoutStopSec"], longestEnd)
	}
	c.Cwd = "" // the directory is there where the package is
	s := setup{Config: c, kinds: builtIn()}
	if _, err := s.agents(); err != nil {
		t.Error(err)
	}
}

// A fault that only a person can mend ends the service: a unit that starts again and again looks
// like one that runs.
func TestTheUnitDoesNotRestartWhatIsConfiguredWrongly(t *testing.T) {
	t.Parallel()
	_, settings := unit(t)
	if settings["Restart"] != "on-failure" {
		t.Errorf("Restart=%s", settings["Restart"])
	}
	lost := filepath.Join(t.TempDir(), "lost")
	for name, text := range map[string]string{
		"spelling":       "listne: 127.0.0.1:0",
		"YAML":           "listen: [",
		"no adapter":     "agents: {x: {adapter: gpt}}",
		"certificate":    "tls: {cert: " + lost + ", key: " + lost + "}",
		"exporter":       "exporters: {e: {url: \"http://127.0.0.1:1\", headers: {authorization: {file: " + lost + "}}}}",
		"database's URL": "db: mysql://x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command(t, "", "config", "check", "--config", file(t, "tributary.yaml", text)) // as a start, without a gateway that could run on
			if !slices.Contains(strings.Fields(settings["RestartPreventExitStatus"]), strconv.Itoa(r.status)) {
				t.Errorf("exit status %d, and the unit starts it again:\n%s", r.status, r.errors)
			}
		})
	}
}

// Two machines need what the page says and no other unit: settings, two secrets and a drop-in.
func TestTheUnitServesTwoMachines(t *testing.T) {
	t.Parallel()
	_, settings := unit(t)
	page := twoMachines(t)
	two, err := config.Load(file(t, "tributary.yaml", yamlOf("", page)[0]))
	if err != nil {
		t.Fatal(err)
	}
	one, err := config.Load("../../deploy/debian/tributary.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if two.Data != one.Data || two.Cwd != one.Cwd || two.Cluster == nil || two.Cluster.Listen == two.Listen {
		t.Errorf("the directories are not those of the unit, or no other gateway reaches this one: %+v", two)
	}
	for _, secret := range []string{"PGPASSWORD", two.Auth.Tokens[0].TokenEnv} {
		if !strings.Contains(page, "\n    "+secret+"=…\n") || !strings.Contains(page, strings.TrimPrefix(settings["EnvironmentFile"], "-")) {
			t.Errorf("the page does not say where %s stands", secret)
		}
	}
	needs := (two.Sessions.Drain + longestEnd - drainWithin).Seconds()
	_, has, _ := strings.Cut(page, "TimeoutStopSec=")
	has, _, _ = strings.Cut(has, "\n")
	if seconds, err := strconv.ParseFloat(has, 64); err != nil || seconds < needs {
		t.Errorf("the gateway has %ss for its end, and needs up to %vs: %v", has, needs, err)
	}
}

// twoMachines is the section of the page about systemd.
func twoMachines(t *testing.T) string {
	t.Helper()
	_, section, _ := strings.Cut(repository(t, "docs/deploy/systemd.md"), "\n## Two machines\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

func TestTheUnitStartsAgainUntilTheDatabaseIsThere(t *testing.T) {
	t.Parallel()
	_, settings := unit(t)
	r := command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--config", file(t, "t.yaml", "agents: {demo: {}}"), "--db", "postgres://127.0.0.1:1/x")
	if r.status == exitOK || slices.Contains(strings.Fields(settings["RestartPreventExitStatus"]), strconv.Itoa(r.status)) || settings["StartLimitIntervalSec"] != "0" {
		t.Errorf("exit status %d, and the unit does not start the gateway again for ever: %v\n%s", r.status, settings, r.errors)
	}
}

func TestSystemdAcceptsTheUnit(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	installed.Needed(t, err == nil, "systemd-analyze is not installed: `apt-get install systemd` does it")
	if sysusers, err := exec.LookPath("systemd-sysusers"); err == nil {
		root := t.TempDir()
		dir := filepath.Join(root, "usr/lib/sysusers.d")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "tributary.conf"), []byte(repository(t, "deploy/debian/sysusers.conf")), 0o600)); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), sysusers, "--dry-run", "--root="+root).CombinedOutput()
		if err != nil || !strings.Contains(string(out), `Creating user 'tributary'`) {
			t.Errorf("systemd-sysusers: %v\n%s", err, out)
		}
	}
	text, settings := unit(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "tributary.service")
	text = strings.Replace(text, settings["ExecStart"], program, 1)
	text = strings.ReplaceAll(text, "man:tributary(1) ", "") // the page is in the package
	sections := map[bool]string{}
	for _, line := range regexp.MustCompile("(?m)(?:^    |`)([A-Z][a-z]\\w+)(=[^`\n]+)").FindAllStringSubmatch(twoMachines(t), -1) {
		sections[strings.HasPrefix(line[1], "Require")] += line[1] + line[2] + "\n"
	}
	dropIn := "[Service]\n" + sections[false] + "[Unit]\n" + sections[true]
	if strings.Count(dropIn, "=") != 2 {
		t.Errorf("the drop-in of the page is\n%s", dropIn)
	}
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Mkdir(file+".d", 0o700), os.WriteFile(file+".d/override.conf", []byte(dropIn), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"verify", "--recursive-errors=no", file},
		{"security", "--offline=true", "--threshold=25", "--no-pager", file},
	} {
		if out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput(); err != nil {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}

// mostProgram bounds the program without its symbols, in bytes: what people load from a release. docs/dependencies.md says
// what makes it large.
const mostProgram = 35_000_000

func TestTheProgramIsSmall(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("the bound is for amd64")
	}
	program := filepath.Join(t.TempDir(), "tributary")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../cmd/tributary")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > mostProgram {
		t.Errorf("the program has %d bytes, and at most %d are allowed: find what was added with `go tool nm -size -sort size`", info.Size(), mostProgram)
	}
}
