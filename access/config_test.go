package access

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestModeNoneNeedsLoopback(t *testing.T) {
	t.Parallel()
	for listen, ok := range map[string]bool{
		"127.0.0.1:8787": true, "127.0.0.2:0": true, "localhost:8787": true, "[::1]:8787": true, "127.0.0.1": true,
		"0.0.0.0:8787": false, ":8787": false, "": false, "[::]:8787": false, "192.168.1.2:8787": false,
		"box.lan:8787": false, "localhost.evil.com:8787": false, "127.0.0.1.evil.com:1": false, "foo.localhost:1": false,
		"127.1:8787": false, "[::1%lo]:8787": false,
	} {
		_, err := New(Config{Mode: ModeNone, Listen: listen})
		if (err == nil) != ok {
			t.Errorf("listen %q: %v", listen, err)
		}
	}
	_, err := New(Config{Mode: ModeNone, Listen: "0.0.0.0:8787"})
	const want = `access mode none needs a loopback listen address and "0.0.0.0:8787" is none; listen on 127.0.0.1 or use mode token`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		part   string
		config Config
	}{
		{`access mode "oauth" is unknown`, Config{Mode: "oauth", Listen: "127.0.0.1:1"}},
		{"has no token", Config{Listen: "127.0.0.1:1"}},
		{"remove allow_origins", Config{Mode: ModeNone, Listen: "127.0.0.1:1", AllowOrigins: []string{LoopbackOrigins}}},
		{"reads no tokens", Config{Mode: ModeNone, Listen: "127.0.0.1:1", Tokens: []Token{{Name: "a", Token: "x", Role: Admin}}}},
		{`allow_origins entry "Null"`, Config{AllowOrigins: []string{"Null"}}},
		{`allow_origins entry "*"`, Config{AllowOrigins: []string{"*"}}},
		{`allow_origins entry "https://*.example.com"`, Config{AllowOrigins: []string{"https://*.example.com"}}},
		{`allow_origins entry "https://a.example/"`, Config{AllowOrigins: []string{"https://a.example/"}}},
		{`allow_origins entry "a.example"`, Config{AllowOrigins: []string{"a.example"}}},
		{`allow_origins entry ""`, Config{AllowOrigins: []string{""}}},
		{`allow_hosts entry "*"`, Config{AllowHosts: []string{"*"}}},
		{`allow_hosts entry ""`, Config{AllowHosts: []string{""}}},
		{`allow_hosts entry "http://a.example"`, Config{AllowHosts: []string{"http://a.example"}}},
		{`allow_hosts entry "a.example."`, Config{AllowHosts: []string{"a.example."}}},
		{"names no host", Config{Listen: "a b:1"}},
	} {
		_, err := New(c.config)
		if err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("error %v, want one with %q", err, c.part)
		}
	}
	// A wildcard listen address is nobody's name, but is no mistake either.
	for _, listen := range []string{":8787", "0.0.0.0:8787", "[::]:8787", ""} {
		if _, err := New(Config{Listen: listen, TokenFile: filepath.Join(t.TempDir(), "token")}); err != nil {
			t.Errorf("listen %q: %v", listen, err)
		}
	}
}

//evidence:for promise-token
func TestRoles(t *testing.T) {
	t.Parallel()
	all := []Role{Viewer, Collaborator, Owner, Admin}
	for i, have := range all {
		for j, need := range all {
			if have.Allows(need) != (i >= j) {
				t.Errorf("%v allows %v: %v", have, need, have.Allows(need))
			}
		}
		for _, bad := range []Role{-1, 0, 5} {
			if bad.Allows(have) || have.Allows(bad) || bad.Allows(bad) {
				t.Errorf("role %d and %v", bad, have)
			}
		}
	}
	var token Token
	if err := json.Unmarshal([]byte(`{"name":"ci","token_env":"X","role":"collaborator"}`), &token); err != nil || token.Role != Collaborator {
		t.Errorf("%+v, %v", token, err)
	}
	if text, err := json.Marshal(operator()); err != nil || string(text) != `{"id":"operator","name":"operator","role":"admin"}` {
		t.Errorf("%s, %v", text, err)
	}
	for _, bad := range []string{"", "none", "Owner", "admin"} {
		if _, err := ParseRole(bad); err == nil {
			t.Errorf("role %q is known in a session", bad)
		}
	}
	for _, bad := range []string{"", "none", "Admin", "owner"} {
		if err := new(Role).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("role %q is known in the gateway", bad)
		}
	}
}
