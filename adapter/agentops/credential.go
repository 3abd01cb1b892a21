package agentops

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Credential says where a service token is; at most one of the two. Without one, callers bring
// their own tokens.
type Credential struct {
	// Env names an environment variable.
	Env string
	// File is read whenever the token is needed, so that an expired token can be replaced.
	File string
}

// token reads the token; "" if there is none to read.
func (c Credential) token() (string, error) {
	const longest = 4096
	token, from := os.Getenv(c.Env), "the environment variable "+c.Env
	switch {
	case c == (Credential{}):
		return "", nil
	case c.Env == "":
		f, err := os.Open(c.File)
		if err != nil {
			return "", fmt.Errorf("agentops: the token cannot be read: %w", err)
		}
		defer f.Close() //nolint:errcheck // nothing was written
		data, err := io.ReadAll(io.LimitReader(f, longest))
		if err != nil {
			return "", fmt.Errorf("agentops: the token cannot be read: %w", err)
		}
		token, from = string(data), c.File
	}
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("agentops: %s holds no token: it must be one word", from)
	}
	return token, nil
}
