// Command in-your-server is an HTTP server with an agent: a function of this program yields
// the chunks, and the gateway keeps, shares, resumes and stops the chats.
package main

import (
	"context"
	"fmt"
	"iter"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/tributary-dev/tributary"
	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/uiendpoint"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/uistream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, "127.0.0.1:8788", "in-your-server-data"); err != nil {
		log.Fatal(err)
	}
}

// serve runs the server until ctx ends.
func serve(ctx context.Context, address, dir string) error {
	chats, err := open(ctx, dir)
	if err != nil {
		return err
	}
	server := &http.Server{Addr: address, Handler: routes(chats), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if closed := chats.Close(closing); err == nil { // turns end first: their streams keep the server open
		err = closed
	}
	if closed := server.Shutdown(closing); err == nil {
		err = closed
	}
	return err
}

// open makes the gateway. The log lies in dir.
func open(ctx context.Context, dir string) (*tributary.Gateway, error) {
	return tributary.New(ctx, tributary.Options{
		Dir: dir,
		Sessions: session.Options{
			Default: "counter",
			Agents:  map[string]session.Agent{"counter": {Runtime: uiendpoint.Runtime{Func: count}}},
		},
		Who:     user,
		Permits: []access.Who{{Role: access.Collaborator}}, // users answer what their own chats ask
	})
}

// routes is the server's own mux, with the gateway below a prefix.
func routes(chats http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "The chats are at /agents/api/chat.") })
	mux.Handle("/agents/", http.StripPrefix("/agents", chats))
	return mux
}

// user is how this server knows its users. Yours looks at its session cookie.
func user(r *http.Request) (access.Principal, bool) {
	name, _, ok := r.BasicAuth()
	return access.Principal{ID: name, Name: name, Role: access.Collaborator}, ok
}

// count is the agent: it counts the words of a prompt aloud, and asks before it counts
// those of a secret.
func count(ctx context.Context, r uiendpoint.Request) iter.Seq2[uistream.Chunk, error] {
	return func(yield func(uistream.Chunk, error) bool) {
		words := strings.Fields(r.Text())
		if len(words) > 0 && words[0] == "secret" {
			input := fmt.Appendf(nil, `{"words":%d}`, len(words)-1)
			_ = yield(uistream.ToolInputAvailable{ToolCallID: "count-1", ToolName: "count", Input: input}, nil) &&
				yield(uistream.ToolApprovalRequest{ToolCallID: "count-1", ApprovalID: "may-i"}, nil)
			return // the answer calls the function again
		}
		if r.MessageID != "" {
			yield(answered(r), nil)
			return
		}
		for n, word := range words {
			if !yield(uistream.TextDelta{Delta: fmt.Sprintf("%d %s\n", n+1, word)}, nil) {
				return
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done(): // the user has stopped the turn
				return
			}
		}
		yield(uistream.Data{Name: "words", Value: fmt.Appendf(nil, "%d", len(words))}, nil)
	}
}

// answered is the end of the call that waited for its approval.
func answered(r uiendpoint.Request) uistream.Chunk {
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.ToolCallID == "count-1" && p.Approval != nil && p.Approval.Approved {
			return uistream.ToolOutputAvailable{ToolCallID: p.ToolCallID, Output: p.Input}
		}
	}
	return uistream.ToolOutputDenied{ToolCallID: "count-1"}
}
