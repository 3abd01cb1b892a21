package address_test

import (
	"testing"

	"github.com/tributary-dev/tributary/internal/address"
)

func TestTheSecretsOfAnAddress(t *testing.T) {
	for _, c := range []struct{ address, public, text, redacted string }{
		{"https://host/agent?code=a-long-key", "https://host/agent", "Post https://host/agent?code=a-long-key: refused a-long-key", "Post https://host/agent?…: refused …"},
		{"https://host?a%2Fkey%3D1=x&key=sec%2Fret%3D", "https://host", "sec/ret= and sec%2Fret%3D", "… and …"},
		{"https://ada:password@host:80/x", "https://host:80/x", "https://ada:password@host:80/x", "https://…@host:80/x"},
		{"https://host/#fragment-key", "https://host/", "nothing", "nothing"},
		{"://nothing?key=1234567", "://nothing", "1234567", "…"},
		{"host:80?key=%zz%zzzz", "host:80", "%zz%zzzz", "…"},
		{"https://host/?v=1", "https://host/", "1 of 1", "1 of 1"},
		{"", "", "text", "text"},
	} {
		if got := address.Public(c.address); got != c.public {
			t.Errorf("Public(%q) = %q, want %q", c.address, got, c.public)
		}
		if got := address.Redact(c.text, c.address); got != c.redacted {
			t.Errorf("Redact(%q, %q) = %q, want %q", c.text, c.address, got, c.redacted)
		}
	}
}

func TestLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "10.0.0.1": false, "a.localhost": false, "127.0.0.1.example": false, "127.1": false,
	} {
		if address.Loopback(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}
