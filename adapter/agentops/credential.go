package agentops

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Credential says where a service token is found; at most one of the two. The zero
// value is none: then callers bring their own.
type Credential struct {
	// Env names an environment variable.
	Env string
	// File is read whenever the token is needed, so that one that has expired can be
	// replaced.
	File string
}

// token reads the token; "" if there is none to read.
func (c Credential) token() (string, error) {
	const longest = 4096
	switch {
	case c.Env != "":
		token := strings.TrimSpace(os.Getenv(c.Env))
		return token, check(token, "the environment variable "+c.Env)
	case c.File != "":
		f, err := os.Open(c.File)
		if err != nil {
			return "", fmt.Errorf("agentops: the token cannot be read: %w", err)
		}
		defer func() { _ = f.Close() }()
		data, err := io.ReadAll(io.LimitReader(f, longest))
		if err != nil {
			return "", fmt.Errorf("agentops: the token cannot be read: %w", err)
		}
		token := strings.TrimSpace(string(data))
		return token, check(token, c.File)
	}
	return "", nil
}

func check(token, where string) error {
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("agentops: %s holds no token: it must be one word", where)
	}
	return nil
}
