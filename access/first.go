package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The token of the first start has a file of its own. The file holds the token itself, or
// its hash only where several people use the gateway: then nobody who reads the file, such as
// an agent's command, can sign in with what it holds. A hash has a colon, so that no program
// takes it for a token.
const (
	hashMark   = "sha256:"
	cookieMark = "cookie:"
)

// ErrHashed says that a token file holds the hash of the token only.
var ErrHashed = errors.New("the token is kept as a hash only")

// first is what the file says.
type first struct {
	text   string // "" if the file holds the hash only
	digest [sha256.Size]byte
	// cookie ends the name of the page's cookie. It outlives the token, so that a new
	// token ends no sign-in of other people.
	cookie string
}

func newFirst(token string) first {
	f := first{text: token, digest: sha256.Sum256([]byte(token))}
	f.cookie = f.ownCookie()
	return f
}

func (f first) ownCookie() string {
	mac := hmac.New(sha256.New, f.digest[:])
	mac.Write([]byte("tributary cookie name 1"))
	return hex.EncodeToString(mac.Sum(nil)[:4])
}

// line is the content of the file.
func (f first) line(hashed bool) string {
	if !hashed {
		return f.text + "\n"
	}
	return hashMark + hex.EncodeToString(f.digest[:]) + " " + cookieMark + f.cookie + "\n"
}

func readFirst(r io.Reader, path string) (first, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxTokenFile+1))
	if err != nil {
		return first{}, fmt.Errorf("token file cannot be read: %w", err)
	}
	if !strings.HasPrefix(string(data), hashMark) {
		token, err := readToken(strings.NewReader(string(data)), path)
		return newFirst(token), err
	}
	var f first
	hash, cookie, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	digest, err := hex.DecodeString(strings.TrimPrefix(hash, hashMark))
	if err != nil || copy(f.digest[:], digest) != sha256.Size || len(digest) != sha256.Size {
		return first{}, fmt.Errorf("token file %s holds a hash that was cut or changed: run `tributary token reset`, which makes a new token", path)
	}
	f.cookie = strings.TrimPrefix(cookie, cookieMark)
	if suffix, err := hex.DecodeString(f.cookie); err != nil || len(suffix) == 0 {
		f.cookie = f.ownCookie()
	}
	return f, nil
}

// loadOrMint reads the file at path, and makes a token and the file when there is none. With
// hashed, the file holds the hash afterwards; a token in it stays valid.
func loadOrMint(path string, hashed bool) (first, error) {
	f, err := loadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := mint(path, hashed); err != nil && !errors.Is(err, fs.ErrExist) {
			return first{}, fmt.Errorf("token file %s cannot be made: %w", path, err)
		}
		// Read back even what we wrote: where two start at once, one token holds.
		f, err = loadPrivate(path)
	}
	if err != nil || !hashed || f.text == "" {
		return f, err
	}
	if err := replaceFile(path, f.line(true)); err != nil {
		return first{}, fmt.Errorf("token file %s is to hold the hash of the token only, because several people use the gateway, and cannot be replaced: make its directory writable, or remove the file: %w", path, err)
	}
	return f, nil
}

// mint writes a new token to a file that nobody else can read, and puts it at
// path in one step, without replacing one that is there.
func mint(path string, hashed bool) error {
	tmp, err := writeBeside(path, newFirst(newToken()).line(hashed))
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	err = os.Link(tmp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without hard links. The holder of the data directory is
	// alone in it, so that nothing can appear in between.
	return os.Rename(tmp, path)
}

// replaceFile puts a new file in the place of another one, in one step. The owner stays.
func replaceFile(path, text string) error {
	tmp, err := writeBeside(path, text)
	if err != nil {
		return err
	}
	defer os.Remove(tmp) // it is there only if it was not renamed
	like, err := os.Stat(path)
	if err != nil {
		like, err = os.Stat(filepath.Dir(path))
	}
	if err == nil {
		err = keepOwner(tmp, like)
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	return err
}

// writeBeside writes a file that nobody else can read into the directory of path.
func writeBeside(path, text string) (name string, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(dir, ".token-*")
	if err != nil {
		return "", err
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Chmod(0o600), tmp.Sync(), tmp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp.Name()))
	}
	return tmp.Name(), nil
}

// loadPrivate reads a token file that must belong to this user alone. It removes the read
// permission of other users, and refuses a file that other users could have written.
func loadPrivate(path string) (first, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return first{}, fmt.Errorf("token file cannot be read: %w", err)
	}
	if !before.Mode().IsRegular() {
		return first{}, fmt.Errorf("token file %s is not a regular file; remove it and a new one is made", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return first{}, fmt.Errorf("token file cannot be read: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return first{}, fmt.Errorf("token file cannot be read: %w", err)
	}
	if !os.SameFile(before, info) {
		return first{}, fmt.Errorf("token file %s was replaced while it was read; start again", path)
	}
	if err := tighten(f, info); err != nil {
		return first{}, err
	}
	return readFirst(f, path)
}

// ReadTokenFile returns the token in a token file. The error is ErrHashed if the file holds
// the hash only, and fs.ErrNotExist if there is no file.
func ReadTokenFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	held, err := readFirst(f, path)
	if err == nil && held.text == "" {
		err = ErrHashed
	}
	return held.text, err
}

// HashTokenFile replaces the token in a token file by its hash, and reports whether the file
// held a token. The token stays valid. It is no error that there is no file.
func HashTokenFile(path string) (changed bool, err error) {
	f, err := loadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && f.text == "" {
		return false, nil
	}
	if err == nil {
		err = replaceFile(path, f.line(true))
	}
	return err == nil, err
}

// ResetTokenFile makes a new token in the place of the one in a token file, and returns it. The
// file then holds the hash, unless it held the token itself and hashed is not set. A gateway that runs
// takes the new token at once, and refuses the old one and the sign-ins that stand for it.
func ResetTokenFile(path string, hashed bool) (token string, err error) {
	old, err := loadPrivate(path)
	f := newFirst(newToken())
	if err != nil || old.text == "" {
		hashed = true
	}
	if err == nil && hashed {
		f.cookie = old.cookie
	}
	if err := replaceFile(path, f.line(hashed)); err != nil {
		return "", fmt.Errorf("token file %s cannot be written: %w", path, err)
	}
	return f.text, nil
}

// firstFile is the token file of a gateway that runs, which other processes may replace.
type firstFile struct {
	path   string
	logger *slog.Logger

	mu   sync.Mutex
	held first
	info fs.FileInfo // of the file that was read; nil: read it
}

// digest is the hash of the token that counts now. If the file cannot be read, the last token
// counts on.
func (f *firstFile) digest() [sha256.Size]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	if err != nil || f.info != nil && os.SameFile(f.info, info) && f.info.ModTime().Equal(info.ModTime()) && f.info.Size() == info.Size() {
		return f.held.digest
	}
	f.info = info
	now, err := loadPrivate(f.path)
	if err != nil {
		f.logger.Error("the token file has changed and cannot be read: the last token counts on", "error", err)
		return f.held.digest
	}
	f.held = now
	return f.held.digest
}

// linkLifetime is how long a link counts that signs in once.
const linkLifetime = 15 * time.Minute

// link is a secret that signs in once. Only its hash is kept, in memory.
type link struct {
	mu     sync.Mutex
	digest [sha256.Size]byte
	stands [sha256.Size]byte // the token in whose name the secret signs in
	until  time.Time         // zero: there is none
}

// make replaces the secret by a new one, which counts as long as the token of this hash does.
func (l *link) make(stands [sha256.Size]byte) (secret string) {
	secret = newToken()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.digest, l.stands, l.until = sha256.Sum256([]byte(secret)), stands, time.Now().Add(linkLifetime)
	return secret
}

// take reports whether a secret of this hash still counts, which it does not any more then. now
// is the hash of the token that counts now. back makes the secret count again.
func (l *link) take(digest []byte, now [sha256.Size]byte) (ok bool, back func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.until
	if !hmac.Equal(l.digest[:], digest) || l.stands != now || !time.Now().Before(until) {
		return false, nil
	}
	l.until = time.Time{}
	return true, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if hmac.Equal(l.digest[:], digest) { // else there is a newer one
			l.until = until
		}
	}
}
