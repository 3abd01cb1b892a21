package access

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
)

const (
	tokenBytes   = 32
	maxTokenFile = 4096
	// minToken is the shortest token: a shorter one can be guessed.
	minToken = 24
	// tokenMark begins a token that Tributary made. A check sum ends the token, so that a cut
	// or mistyped token differs from one that an operator made up.
	tokenMark = "trb_"
)

// newToken makes a token of 256 random bits.
func newToken() string {
	random := make([]byte, tokenBytes)
	rand.Read(random) // never fails
	body := base64.RawURLEncoding.EncodeToString(random)
	return tokenMark + body + checkSum(body)
}

func checkSum(body string) string {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE([]byte(body)))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// whole reports whether a token has its check sum, if it is one of those that have.
func whole(token string) bool {
	body, ours := strings.CutPrefix(token, tokenMark)
	end := len(body) - len(checkSum(""))
	return !ours || end > 0 && checkSum(body[:end]) == body[end:]
}

func tighten(f *os.File, info fs.FileInfo) error {
	perm := info.Mode().Perm()
	if runtime.GOOS == "windows" || perm&0o077 == 0 { // Windows has no such bits
		return nil
	}
	if perm&0o022 != 0 {
		return fmt.Errorf("token file %s can be written by others (mode %04o); remove it and a new one is made", f.Name(), perm)
	}
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("token file %s can be read by others (mode %04o) and that cannot be changed; set its mode to 0600: %w", f.Name(), perm, err)
	}
	return nil
}

func readToken(r io.Reader, path string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTokenFile+1))
	if err != nil {
		return "", fmt.Errorf("token file cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(data))
	switch {
	case token == "":
		return "", fmt.Errorf("token file %s is empty; remove it and a new one is made, or write a token into it", path)
	case len(data) > maxTokenFile || !validToken(token):
		return "", fmt.Errorf("token file %s does not hold a token: one word of letters, digits and -._~+/=", path)
	case !whole(token):
		return "", fmt.Errorf("token file %s holds a token that was cut or changed; remove it and a new one is made, or write the whole token into it", path)
	case len(token) < minToken:
		return "", fmt.Errorf("token file %s holds a token that is shorter than %d characters; remove it and a new one is made, or write a longer token into it", path, minToken)
	}
	return token, nil
}

// validToken reports whether s can be sent as a bearer token.
func validToken(s string) bool {
	word := strings.TrimRight(s, "=")
	for _, c := range []byte(word) {
		if !alphanumeric(c) && strings.IndexByte("-._~+/", c) < 0 {
			return false
		}
	}
	return word != "" && len(s) <= maxTokenFile
}

// value finds the configured token.
func (t Token) value() (string, error) {
	set := 0
	for _, s := range []string{t.Token, t.TokenEnv, t.TokenFile} {
		if s != "" {
			set++
		}
	}
	if set != 1 {
		return "", fmt.Errorf("token %q needs exactly one of token, token_env and token_file", t.Name)
	}
	if t.TokenFile != "" {
		f, err := os.Open(t.TokenFile)
		if err != nil {
			return "", fmt.Errorf("token %q: its file cannot be read: %w", t.Name, err)
		}
		defer f.Close()
		return readToken(f, t.TokenFile)
	}
	token := t.Token
	if t.TokenEnv != "" {
		if token = os.Getenv(t.TokenEnv); token == "" {
			return "", fmt.Errorf("token %q: the environment variable %s is not set", t.Name, t.TokenEnv)
		}
	}
	switch {
	case !validToken(token):
		return "", fmt.Errorf("token %q is not one word of letters, digits and -._~+/=", t.Name)
	case !whole(token):
		return "", fmt.Errorf("token %q was cut or changed; set it to the whole token", t.Name)
	case len(token) < minToken:
		return "", fmt.Errorf("token %q is shorter than %d characters, so that it can be guessed; make a longer one", t.Name, minToken)
	}
	return token, nil
}
