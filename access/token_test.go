package access

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Tokens that are long enough.
const longX, longY = "xxxxxxxxxxxxxxxxxxxxxxxx", "yyyyyyyyyyyyyyyyyyyyyyyy"

// cut is a token of the gateway's own making without its end.
var cut = newToken()[:36]

// mintText returns the token of a file that holds the token itself.
func mintText(path string) (string, error) {
	f, err := loadOrMint(path, false)
	return f.text, err
}

func TestMint(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "token")
	first, err := mintText(path)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^trb_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}$`).MatchString(first) {
		t.Errorf("token %q is not 32 bytes of base64url and a check sum", first)
	}
	again, err := mintText(path)
	if err != nil || again != first {
		t.Errorf("second start: %q, %v; want %q", again, err, first)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %04o", info.Mode().Perm())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	other, err := mintText(filepath.Join(t.TempDir(), "token"))
	if err != nil || other == first {
		t.Errorf("another directory has the same token, or %v", err)
	}
}

func TestMintTogether(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	tokens := make([]string, 16)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			token, err := mintText(path)
			if err != nil {
				t.Error(err)
			}
			tokens[i] = token
		})
	}
	wg.Wait()
	for _, token := range tokens {
		if token != tokens[0] {
			t.Fatalf("two tokens: %q and %q", token, tokens[0])
		}
	}
}

func TestTokenFile(t *testing.T) {
	t.Parallel()
	const good = "abcDEF-._~+/01234567890123456789=="
	for _, c := range []struct {
		name    string
		content string
		perm    os.FileMode
		want    string // token, or part of the error after "!"
	}{
		{"ours", good, 0o600, good},
		{"with line end", "  " + good + "\r\n", 0o600, good},
		{"read-only", good, 0o400, good},
		{"read by the group is tightened", good, 0o640, good},
		{"read by all is tightened", good, 0o644, good},
		{"written by the group", good, 0o660, "!can be written by others (mode 0660)"},
		{"written by all", good, 0o666, "!can be written by others"},
		{"empty", "", 0o600, "!is empty"},
		{"blank", " \n\t\n", 0o600, "!is empty"},
		{"one letter", "a\n", 0o600, "!that is shorter than 24 characters; remove it and a new one is made"},
		{"a made one that was cut", cut, 0o600, "!that was cut or changed; remove it and a new one is made"},
		{"two words", "a b", 0o600, "!does not hold a token"},
		{"two lines", "a\nb\n", 0o600, "!does not hold a token"},
		{"binary", "a\x00b", 0o600, "!does not hold a token"},
		{"padding only", "==", 0o600, "!does not hold a token"},
		{"huge", strings.Repeat("a", maxTokenFile+1), 0o600, "!does not hold a token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && c.perm&0o077 != 0 {
				t.Skip("no such permissions here")
			}
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.perm); err != nil { // past the umask
				t.Fatal(err)
			}
			got, err := mintText(path)
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), part) || got != "" {
					t.Fatalf("%q, %v; want an error with %q", got, err, part)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("%q, %v; want %q", got, err, c.want)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("mode is %v, %v", info.Mode(), err)
			}
		})
	}
}

func TestTokenFileThatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("planted"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "nowhere"), dangling); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, dangling, dir} {
		if token, err := mintText(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %q, %v", path, token, err)
		}
	}
	if _, err := mintText(filepath.Join(target, "token")); err == nil {
		t.Error("a token below a file")
	}
}

func TestConfiguredTokens(t *testing.T) {
	t.Setenv("ACCESS_TEST_TOKEN", "from-env-0123456789012345")
	t.Setenv("ACCESS_TEST_EMPTY", "")
	file := filepath.Join(t.TempDir(), "mounted")
	if err := os.WriteFile(file, []byte("from-a-mounted-file-012345\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	g := newGuard(t, func(c *Config) {
		c.Tokens = []Token{
			{Name: "a", TokenEnv: "ACCESS_TEST_TOKEN", Role: Viewer},
			{Name: "b", TokenFile: file, Role: Admin},
		}
	})
	for token, want := range map[string]string{"from-env-0123456789012345": "a viewer", "from-a-mounted-file-012345": "b admin"} {
		if got := ask(g, "GET /api/sessions", "Authorization: Bearer "+token).Body.String(); got != want {
			t.Errorf("%s: %s, want %s", token, got, want)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("a configured file was changed: %v %v", info.Mode(), err)
	}
	for part, tokens := range map[string][]Token{
		"ACCESS_TEST_EMPTY is not set":                          {{Name: "a", TokenEnv: "ACCESS_TEST_EMPTY", Role: Admin}},
		"ACCESS_TEST_UNSET is not set":                          {{Name: "a", TokenEnv: "ACCESS_TEST_UNSET", Role: Admin}},
		"its file cannot be read":                               {{Name: "a", TokenFile: file + ".no", Role: Admin}},
		"exactly one of token":                                  {{Name: "a", Role: Admin}},
		`"both" needs exactly one of`:                           {{Name: "both", Token: longX, TokenFile: file, Role: Admin}},
		"shorter than 24 characters, so that it can be guessed": {{Name: "a", Token: "0123456789abcdefghijklm", Role: Viewer}},
		`token "a" was cut or changed`:                          {{Name: "a", Token: cut, Role: Viewer}},
		"is not one word":                                       {{Name: "a", Token: "x y", Role: Admin}},
		"has no role":                                           {{Name: "a", Token: longX}},
		`"b" has no role`:                                       {{Name: "b", Token: longX, Role: 9}},
		`"c" has no role`:                                       {{Name: "c", Token: longX, Role: Owner}},
		"has no name":                                           {{Name: " ", Token: longX, Role: Admin}},
		`two tokens are named "a"`:                              {{Name: "a", Token: longX, Role: Admin}, {Name: "a", Token: longY, Role: Viewer}},
		`tokens "a" and "b" are the same`:                       {{Name: "a", Token: longX, Role: Admin}, {Name: "b", Token: longX, Role: Viewer}},
		`two tokens are named "operator"`:                       {{Name: "operator", Token: longX, Role: Viewer}},
	} {
		_, err := New(Config{Listen: "127.0.0.1:1", TokenFile: filepath.Join(t.TempDir(), "token"), Tokens: tokens})
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want one with %q", err, part)
		}
	}
}

// TestMintReplacesNothing is the loser of two starts at once.
func TestMintReplacesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("winner-012345678901234567"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mint(path, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("mint over a token: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "winner-012345678901234567" {
		t.Errorf("the token is now %q, %v", got, err)
	}
}
