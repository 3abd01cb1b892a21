package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A file with a secret must be there, be no directory and have content. Else the start and the check end
// with exit status 2 and a sentence that names the key. So systemd does not start the gateway again and again.
func TestAFileThatTheConfigurationNamesMustBeReadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for key, conf := range map[string]string{
		"auth.tokens[0].token_file":    "auth: {tokens: [{name: ci, role: viewer, token_file: %q}]}",
		"auth.jwt.key_file":            "auth: {mode: jwt, jwt: {key_file: %q}}",
		"auth.jwt.secret_file":         "auth: {mode: jwt, jwt: {secret_file: %q}}",
		"auth.oidc.client_secret_file": "{public_url: 'https://a.example', auth: {oidc: {issuer: 'https://id.example', client_id: a, default_role: viewer, client_secret_file: %q}}}",
		"tls.key":                      "tls: {cert: cert.pem, key: %q}",
		"agents.far.token_file":        "{default_agent: far, agents: {far: {adapter: openai, model: x, url: 'http://127.0.0.1:1', token_file: %q}}}",
	} {
		for path, why := range map[string]string{filepath.Join(dir, "none"): "no such file or directory", dir: "it is a directory", empty: "it is empty"} {
			at := file(t, "tributary.yaml", fmt.Sprintf(conf, path))
			says := fmt.Sprintf("%s names %s, which cannot be read: %s", key, path, why)
			command(t, "", "config", "check", "--config", at).want(t, exitUsage, says)
			command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--config", at).want(t, exitUsage, says)
		}
	}
	off := file(t, "tributary.yaml", "agents: {demo: {}, far: {enabled: false, adapter: openai, model: x, url: 'http://127.0.0.1:1', token_file: none}}")
	command(t, "", "config", "check", "--config", off).want(t, exitOK, "")
}
