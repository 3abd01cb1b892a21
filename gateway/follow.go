package gateway

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/uistream"
)

// silence is how long a stream of records or events holds nothing before a comment
// shows that the connection lives.
const silence = 15 * time.Second

// follow streams items as they come, one server-sent event each: frame appends its
// number and its JSON. It holds no more than one of them, and a client that takes
// nothing is cut by the writer's own limit. An error is the source's.
func follow[T any](g *gateway, w http.ResponseWriter, r *http.Request, source iter.Seq2[T, error], frame func(T) (id uint64, data []byte, err error)) error {
	writer := uistream.NewWriter(w, g.Rings.Framing(), g.Timing)
	if err := writer.Begin(); err != nil || r.Method == http.MethodHead {
		return nil //nolint:nilerr // the client has gone, or wanted no more
	}
	ctx, cancel := context.WithCancel(r.Context())
	type item struct {
		what T
		err  error
	}
	items := make(chan item)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	reader.Go(func() {
		defer close(items)
		for what, err := range source {
			select {
			case items <- item{what, err}:
			case <-ctx.Done():
				return
			}
		}
	})
	keepalive := time.NewTicker(cmp.Or(g.Timing.Keepalive, silence))
	defer keepalive.Stop()
	for {
		var out []byte
		select {
		case it, more := <-items:
			if !more || it.err != nil {
				return it.err
			}
			id, data, err := frame(it.what)
			if err != nil {
				return err
			}
			out = strconv.AppendUint(append(out, "id: "...), id, 10)
			out = append(append(append(out, "\ndata: "...), data...), "\n\n"...)
		case <-keepalive.C:
			out = []byte(": keepalive\n\n")
		case <-ctx.Done():
			return nil
		}
		if writer.Frames(out) != nil || writer.Flush() != nil {
			return nil
		}
	}
}

// mark is where a client wants to go on: what an EventSource that comes back has
// seen last, else what its URL says. There is none if neither says.
func mark(r *http.Request) (after *uint64, err error) {
	const everything = 1<<63 - 1
	name, text := "Last-Event-ID", r.Header.Get("Last-Event-ID")
	if text == "" {
		name, text = "after", r.URL.Query().Get("after")
	}
	if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	n, err := number(name, text, 0, 0, everything)
	return &n, err
}
