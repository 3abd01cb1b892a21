package worktool

import (
	"fmt"
	"strings"
)

// clipper keeps the beginning and the end of what is written to it.
type clipper struct {
	max  int
	head []byte
	tail []byte
	lost int
}

// Write implements io.Writer. It never fails.
func (c *clipper) Write(b []byte) (int, error) {
	n := len(b)
	if room := c.max/2 - len(c.head); room > 0 {
		take := min(room, len(b))
		c.head, b = append(c.head, b[:take]...), b[take:]
	}
	c.tail = append(c.tail, b...)
	if extra := len(c.tail) - c.max/2; extra > c.max/2 { // moved seldom, so that each byte costs little
		c.drop(extra)
	}
	return n, nil
}

func (c *clipper) drop(n int) {
	c.lost += n
	c.tail = append(c.tail[:0], c.tail[n:]...)
}

// String returns what is kept, as valid UTF-8.
func (c *clipper) String() string {
	if extra := len(c.tail) - c.max/2; extra > 0 {
		c.drop(extra)
	}
	text := string(c.head)
	if c.lost > 0 {
		text += fmt.Sprintf("\n[%d bytes are left out here]\n", c.lost)
	}
	return strings.ToValidUTF8(text+string(c.tail), "\uFFFD")
}
