package judge

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// cache has known opinions, each in a file of its own in a directory. A cache that cannot be read or
// written has none: the model is asked again.
type cache struct{ dir string }

// cacheKey is the SHA-256 of the parts, each with its length so that none runs into the next.
func cacheKey(parts ...string) string {
	h := sha256.New()
	for _, p := range append([]string{instructions}, parts...) {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (c cache) file(key string) string { return filepath.Join(c.dir, key+".json") }

func (c cache) read(key string) (o opinion, known bool) {
	if c.dir == "" {
		return o, false
	}
	f, err := os.Open(c.file(key))
	if err != nil {
		return o, false
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return o, false
	}
	return parse(string(data))
}

// write puts the file into its place when it is complete.
func (c cache) write(key string, o opinion) {
	data, err := json.Marshal(o)
	if err != nil || c.dir == "" || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(c.dir, ".judge-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it has been moved, or nobody wants it
	_, err = f.Write(data)
	if closed := f.Close(); err != nil || closed != nil {
		return
	}
	_ = os.Rename(f.Name(), c.file(key)) // if not, the model is asked again
}
