package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// packedSuffix ends the names of the files that compress.go has compressed.
const packedSuffix = ".gz"

// content is what is in a file of the build.
type content struct {
	packed []byte        // compressed by gzip, as most clients take it; nil if the build did not compress the file
	plain  func() []byte // unpacked for the first client that needs that
	tag    string        // names the content in an ETag
}

// read reads a file of the build by the name that it has in the page.
func read(built fs.FS, name string) (content, error) {
	data, err := fs.ReadFile(built, name+packedSuffix)
	c := content{packed: data, plain: sync.OnceValue(func() []byte { return unpack(data) })}
	if errors.Is(err, fs.ErrNotExist) {
		data, err = fs.ReadFile(built, name)
		c = content{plain: func() []byte { return data }}
	}
	sum := sha256.Sum256(data)
	c.tag = hex.EncodeToString(sum[:8])
	return c, err //nolint:wrapcheck // the callers say what is missing
}

// unpack returns a file as it was built. A test unpacks each file that is compiled in.
func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return plain
}

// takesGzip reports whether a client takes content that gzip has compressed.
func takesGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		coding, weight, weighed := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		return !weighed || err == nil && q > 0
	}
	return false
}
