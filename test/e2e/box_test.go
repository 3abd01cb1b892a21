package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A person who may use an agent that runs commands asks for the gateway's own files, by each way that a
// command has. With a box they get none of the admin token, the secret file, the configuration and the
// environment of the gateway. Without one they get all.
func TestAnAgentInABoxDoesNotReadTheGatewaysSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"work", "keys"} {
		must(os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	must(os.WriteFile(filepath.Join(dir, "keys", "endpoint"), []byte("key-of-the-endpoint"), 0o600))
	must(os.WriteFile(filepath.Join(dir, "tributary.yaml"), []byte(`# word-in-the-configuration
default_agent: boxed
agents:
  boxed: {adapter: command, command: sh, args: ["-c", "read -r line; eval \"$line\""]}
  open: {adapter: command, command: sh, args: ["-c", "read -r line; eval \"$line\""], box: {form: "off"}}
  other: {adapter: openai, url: "http://127.0.0.1:9", token_file: keys/endpoint, model: none}
`), 0o600))
	data := filepath.Join(dir, "data")
	p := start(t, data, append(os.Environ(), "WORD=word-of-the-environment"), "--config", filepath.Join(dir, "tributary.yaml"), "--cwd", filepath.Join(dir, "work"))
	res := p.request(t.Context(), http.MethodGet, "/api/agents", nil)
	var list struct {
		Agents []struct {
			Name, Box string
			Reason    string `json:"box_reason"`
		}
	}
	must(json.NewDecoder(res.Body).Decode(&list))
	_ = res.Body.Close()
	for _, a := range list.Agents {
		if a.Name == "boxed" && a.Box != "guard" {
			if strings.Contains(a.Reason, "box.Enter") {
				t.Fatal("the program cannot make boxes: ", a.Reason)
			}
			t.Skip("this machine gives no box: ", a.Reason)
		}
	}
	script := `cat ../data/token ../keys/endpoint ../tributary.yaml; tr '\000' '\n' </proc/$PPID/environ | grep ^WORD; cat /proc/$PPID/root` + data + `/token; echo all was tried`
	secrets := map[string]string{"the admin token": p.Token(), "a secret file": "key-of-the-endpoint", "the configuration": "word-in-the-configuration", "the environment of the gateway": "word-of-the-environment"}
	for agent, open := range map[string]bool{"boxed": false, "open": true} {
		body, ok := prompt(agent, script).(map[string]any)
		if !ok {
			t.Fatal("the prompt is no object")
		}
		body["agent"] = agent
		res := p.request(t.Context(), http.MethodPost, "/api/chat", body)
		s := p.read(res.Body, nil)
		_ = res.Body.Close()
		if !strings.Contains(s.text, "all was tried") {
			t.Fatalf("%s says %.300q", agent, s.text)
		}
		for name, secret := range secrets {
			if strings.Contains(s.text, secret) != open {
				t.Errorf("%s: the agent gets %s: %t; it says %.500q", agent, name, !open, s.text)
			}
		}
	}
}
