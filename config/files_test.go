package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tributary-dev/tributary/config"
)

// A new key for a file says what the file is, so that no secret is forgotten.
func TestEveryKeyForAFileSaysWhatTheFileIs(t *testing.T) {
	t.Parallel()
	seen := 0
	var look func(at string, typ reflect.Type)
	look = func(at string, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			look(at, typ.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		for f := range typ.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if key == "" {
				continue
			}
			kind, is := f.Tag.Lookup("file")
			switch {
			case is && f.Type.Kind() != reflect.String && f.Type != reflect.TypeFor[[]string]():
				t.Errorf("%s.%s has the tag file, and is neither a string nor a list of strings", at, key)
			case is && !slices.Contains([]string{"path", "secret", "program"}, kind):
				t.Errorf(`%s.%s has the tag file:%q: write path, secret or program`, at, key, kind)
			case strings.HasSuffix(key, "_file") && kind != "secret":
				t.Errorf(`%s.%s names a file: give it the tag file:"secret"`, at, key)
			case key == "key" && f.Type.Kind() == reflect.String && kind != "secret":
				t.Errorf(`%s.%s names a private key: give it the tag file:"secret"`, at, key)
			}
			if is {
				seen++
			}
			look(at+"."+key, f.Type)
		}
	}
	look("", reflect.TypeFor[config.Config]())
	if seen < 11 {
		t.Errorf("only %d keys name files", seen)
	}
}

// filled sets each key of the settings whose name ends in _file or _env to the key's own place, in one
// element of every list and map, and returns the places.
func filled(v reflect.Value, at string) (files, variables []string) {
	add := func(v reflect.Value, at string) {
		f, n := filled(v, at)
		files, variables = append(files, f...), append(variables, n...)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		add(v.Elem(), at)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		add(v.Index(0), at)
	case reflect.Map:
		item := reflect.New(v.Type().Elem()).Elem()
		add(item, at)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), item)
	case reflect.Struct:
		for f, field := range v.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			at := at + "/" + key
			switch {
			case !f.IsExported() || key == "":
			case field.Kind() != reflect.String:
				add(field, at)
			case strings.HasSuffix(key, "_file"):
				field.SetString(at)
				files = append(files, at)
			case strings.HasSuffix(key, "_env"):
				field.SetString(at)
				variables = append(variables, at)
			}
		}
	default:
	}
	return files, variables
}

// No file and no variable with a secret is forgotten, whatever keys the settings get.
func TestEveryKeyForASecretNamesASecret(t *testing.T) {
	t.Parallel()
	var c config.Config
	files, variables := filled(reflect.ValueOf(&c).Elem(), "")
	if len(files) < 5 || len(variables) < 5 {
		t.Errorf("only %q and %q are keys for secrets", files, variables)
	}
	for _, path := range files {
		if !slices.Contains(c.SecretFiles(), path) || !slices.Contains(c.ClosedFiles(), path) {
			t.Errorf("%s names a file that is open to agents", path)
		}
	}
	for _, name := range variables {
		if !slices.Contains(c.SecretVariables(), name) {
			t.Errorf("%s names a variable that agents may get", name)
		}
	}
}

func TestTheConfigurationAndEverySecretOfItIsClosed(t *testing.T) {
	t.Setenv("PGPASSFILE", "/home/x/passwords")
	t.Setenv("HOME", "/home/x")
	dir := t.TempDir()
	path := filepath.Join(dir, "gateway.yaml")
	c, err := config.Read([]byte(`
public_url: https://agents.example.com
tls: {cert: cert.pem, key: key.pem}
db: postgres://u@h/d?passfile=/run/pass&sslkey=client.key
auth:
  mode: jwt
  jwt: {key_file: jwt.pem, issuer: https://id.example.com}
  oidc: {issuer: https://id.example.com, client_id: a, client_secret_file: oidc-secret, default_role: viewer}
  tokens:
    - {name: a, role: viewer, token_file: a.token}
    - {name: b, role: viewer, token_file: /etc/b.token}
agents:
  one: {token_file: one.token}
  off: {enabled: false, token_file: off.token, options: {mcp: [{name: x, headers: {Authorization_file: /run/mcp}}], password_file: /run/password, file: plain}}
`), path)
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("client.key")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		here, path, "/etc/b.token", "/run/pass", "/run/mcp", "/run/password", "/home/x/passwords", "/home/x/.pgpass", "/home/x/.postgresql/postgresql.key", "/home/x/.pg_service.conf",
	}
	for _, name := range []string{"key.pem", "jwt.pem", "oidc-secret", "a.token", "one.token", "off.token"} {
		want = append(want, filepath.Join(dir, name))
	}
	slices.Sort(want)
	if got := c.ClosedFiles(); !slices.Equal(got, want) {
		t.Errorf("closed are\n%q, want\n%q", got, want)
	}
	if got := c.SecretFiles(); len(got) != len(want)-1 || slices.Contains(got, path) {
		t.Errorf("the secrets are %q", got)
	}
	if err := c.CheckSecrets(); err == nil || !strings.Contains(err.Error(), "agents.off.options.mcp[0].headers.Authorization_file names /run/mcp, which cannot be read: no such file or directory") {
		t.Errorf("a file in the options of an agent that is not there: %v", err)
	}
	secret, err := config.Read([]byte("auth: {mode: jwt, jwt: {secret_file: s}}"), path)
	if err != nil || !slices.Contains(secret.ClosedFiles(), filepath.Join(dir, "s")) {
		t.Errorf("the secret of JSON Web Tokens is open: %q, %v", secret.ClosedFiles(), err)
	}
}

// The file that the next start would read is closed before it exists: who can write it
// decides what the gateway runs.
func TestTheDefaultConfigurationIsClosedBeforeItExists(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load("")
	if got := c.ClosedFiles(); err != nil || !slices.Equal(got, []string{filepath.Join(here, config.DefaultFile)}) {
		t.Errorf("closed are %q, %v", got, err)
	}
}

func TestAnchoredPathsOfAgentsStayInTheirMap(t *testing.T) {
	t.Parallel()
	c, err := config.Read([]byte(`agents: {one: {command: ./agent, cwd: work, token_file: t, options: {a: 1}}, two: {command: claude}}`), "/etc/x/c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	one, two := c.Agents["one"], c.Agents["two"]
	if one.Command != "/etc/x/agent" || one.Cwd != "/etc/x/work" || one.TokenFile != "/etc/x/t" || two.Command != "claude" || !json.Valid(one.Options) {
		t.Errorf("%+v %+v", one, two)
	}
}

// Several goroutines may read a configuration: what asks it writes nothing. The race detector sees it.
func TestAConfigurationIsReadByManyAtOnce(t *testing.T) {
	t.Parallel()
	c := config.Config{Agents: map[string]config.Agent{"a": {TokenEnv: "A_TOKEN"}}}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			if got := c.SecretVariables(); !slices.Contains(got, "A_TOKEN") || len(c.SecretFiles()) != 0 {
				t.Errorf("the secrets are in %v and %v", got, c.SecretFiles())
			}
		})
	}
	readers.Wait()
}
