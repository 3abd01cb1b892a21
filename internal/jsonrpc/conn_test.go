package jsonrpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
)

// wire keeps what a Conn sends.
type wire struct {
	mu    sync.Mutex
	lines []string
}

func (w *wire) send(_ context.Context, line json.RawMessage) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, string(line))
	return nil
}

// sent waits until the Conn rests and returns what was sent since the last time.
func (w *wire) sent() string {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	all := strings.Join(w.lines, "\n")
	w.lines = nil
	return all
}

// in runs a test in a bubble with a Conn.
func in(t *testing.T, o jsonrpc.Options, test func(t *testing.T, c *jsonrpc.Conn, w *wire)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		c := jsonrpc.New(w.send, o)
		defer c.Close(nil)
		test(t, c, w)
	})
}

func take(t *testing.T, c *jsonrpc.Conn, line string) jsonrpc.Message {
	t.Helper()
	m, err := c.Take([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestACallGetsTheReplyWithItsID(t *testing.T) {
	t.Parallel()
	in(t, jsonrpc.Options{}, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
		var got [2]string
		var calls sync.WaitGroup
		for i := range got {
			calls.Go(func() {
				if err := c.Call(t.Context(), "name", map[string]int{"n": i}, &got[i]); err != nil {
					t.Error(err)
				}
			})
			equal(t, w.sent(), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"name","params":{"n":%d}}`, i+1, i))
		}
		take(t, c, `{"jsonrpc":"2.0","id":2,"result":"second"}`)
		take(t, c, `{"jsonrpc":"2.0","id":1,"result":"first"}`)
		take(t, c, `{"jsonrpc":"2.0","id":1,"result":"again"}`)
		take(t, c, `{"jsonrpc":"2.0","id":"1","result":"a stranger's"}`)
		calls.Wait()
		equal(t, strings.Join(got[:], " "), "first second")
	})
}

func TestACallReturnsTheErrorOfTheOtherEnd(t *testing.T) {
	t.Parallel()
	in(t, jsonrpc.Options{Bare: true}, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
		failed := make(chan error)
		go func() { failed <- c.Call(t.Context(), "login", nil, nil) }()
		equal(t, w.sent(), `{"id":1,"method":"login"}`)
		take(t, c, `{"id":1,"error":{"code":-32000,"message":"Log in first","data":{"how":"x"}}}`)
		err, ok := errors.AsType[jsonrpc.Error](<-failed)
		if !ok || err.Code != -32000 || err.Error() != "Log in first" || string(err.Data) != `{"how":"x"}` {
			t.Errorf("got %+v", err)
		}
	})
}

func TestACallThatIsGivenUpIsWithdrawn(t *testing.T) {
	t.Parallel()
	own := func(id json.RawMessage) (string, any) {
		return "turn/interrupt", map[string]json.RawMessage{"turn": id}
	}
	for want, o := range map[string]jsonrpc.Options{
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`: {},
		`{"method":"turn/interrupt","params":{"turn":1}}`:                        {Bare: true, Cancel: own},
	} {
		in(t, o, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := c.Call(ctx, "slow", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			_, withdrawal, _ := strings.Cut(w.sent(), "\n")
			equal(t, withdrawal, want)
			take(t, c, `{"id":1,"result":null}`) // too late, and harmless
		})
	}
}

func TestAHandlerAnswersARequestUnderItsID(t *testing.T) {
	t.Parallel()
	in(t, jsonrpc.Options{}, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
		c.Handle("double", func(_ context.Context, params json.RawMessage) (any, error) {
			var n int
			if err := json.Unmarshal(params, &n); err != nil {
				return nil, jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "n is no number"}
			}
			return 2 * n, nil
		})
		c.Handle("nothing", func(context.Context, json.RawMessage) (any, error) { return nil, nil }) //nolint:nilnil // an empty result
		c.Handle("fail", func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no <luck>") })
		c.Handle("mine", nil)
		for request, want := range map[string]string{
			`{"id":"a","method":"double","params":21}`:   `{"jsonrpc":"2.0","id":"a","result":42}`,
			`{"id":0,"method":"double","params":"x"}`:    `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"n is no number"}}`,
			`{"id":1,"method":"nothing"}`:                `{"jsonrpc":"2.0","id":1,"result":null}`,
			`{"id":2,"method":"fail"}`:                   `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no <luck>"}}`,
			`{"id":3,"method":"craft/drain"}`:            `{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"the method craft/drain is not known"}}`,
			`{"id":4,"method":"mine"}`:                   ``,
			`{"method":"double","params":21}`:            ``, // a notification
			`{"id":null,"error":{"code":1}}`:             ``,
			`{"id":9,"result":"nobody asked for this"}`:  ``,
			`{"method":"$/cancel_request","params":[1]}`: ``,
		} {
			take(t, c, request)
			equal(t, w.sent(), want)
		}
		mine, err := c.Reply(json.RawMessage("4"), map[string]bool{"ok": true})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, string(mine), `{"jsonrpc":"2.0","id":4,"result":{"ok":true}}`)
	})
}

func TestARequestThatTheOtherEndWithdrawsEndsItsHandler(t *testing.T) {
	t.Parallel()
	in(t, jsonrpc.Options{}, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
		c.Handle("wait", func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		take(t, c, `{"id":"r","method":"wait"}`)
		take(t, c, `{"id":"r","method":"wait"}`)
		equal(t, w.sent(), `{"jsonrpc":"2.0","id":"r","error":{"code":-32600,"message":"an earlier request with the same id still runs"}}`)
		take(t, c, `{"method":"$/cancel_request","params":{"requestId":"r"}}`)
		equal(t, w.sent(), `{"jsonrpc":"2.0","id":"r","error":{"code":-32800,"message":"the request was withdrawn"}}`)
	})
}

func TestCallsAndHandlersAreBounded(t *testing.T) {
	t.Parallel()
	in(t, jsonrpc.Options{MaxCalls: 1, MaxHandlers: 1}, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error)
		go func() { first <- c.Call(ctx, "a", nil, nil) }()
		w.sent()
		if err := c.Call(t.Context(), "b", nil, nil); !errors.Is(err, jsonrpc.ErrBusy) {
			t.Error(err)
		}
		cancel()
		<-first
		w.sent()
		c.Handle("wait", func(ctx context.Context, _ json.RawMessage) (any, error) { <-ctx.Done(); return nil, ctx.Err() })
		take(t, c, `{"id":1,"method":"wait"}`)
		take(t, c, `{"id":2,"method":"wait"}`)
		equal(t, w.sent(), `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"too many requests run at once"}}`)
	})
}

func TestCloseEndsCallsAndHandlers(t *testing.T) {
	t.Parallel()
	in(t, jsonrpc.Options{}, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
		died := errors.New("the agent died")
		handled := false
		c.Handle("wait", func(ctx context.Context, _ json.RawMessage) (any, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			handled = true
			return nil, ctx.Err()
		})
		take(t, c, `{"id":1,"method":"wait"}`)
		failed := make(chan error, 1)
		go func() { failed <- c.Call(t.Context(), "a", nil, nil) }()
		w.sent()
		c.Close(died)
		if err := <-failed; !errors.Is(err, died) || !handled {
			t.Errorf("the call got %v; the handler had ended: %v", err, handled)
		}
		if err := c.Call(t.Context(), "a", nil, nil); !errors.Is(err, died) {
			t.Errorf("a later call got %v", err)
		}
		take(t, c, `{"id":2,"method":"wait"}`)
		equal(t, w.sent(), "")
	})
}

func TestAValueThatIsNoMessageIsAnError(t *testing.T) {
	t.Parallel()
	in(t, jsonrpc.Options{}, func(t *testing.T, c *jsonrpc.Conn, w *wire) {
		for _, line := range []string{``, `null`, `{}`, `[]`, `"x"`, `Loading…`, `{"id":{},"method":"m"}`, `{"id":true,"result":1}`, `{"jsonrpc":"2.0","id":1`} {
			if _, err := c.Take([]byte(line)); !errors.Is(err, jsonrpc.ErrInvalid) {
				t.Errorf("%q: %v", line, err)
			}
		}
		equal(t, w.sent(), "")
	})
}

// FuzzTake hands arbitrary lines to a Conn with a call in flight. Each reply must be one
// valid message with the id of the request.
func FuzzTake(f *testing.F) {
	for _, line := range []string{
		`{"id":1,"result":{}}`, `{"id":1,"error":{"code":1,"message":"m"}}`, `{"id":"a","method":"echo","params":[1]}`, `{"method":"echo"}`,
		`{"method":"$/cancel_request","params":{"requestId":"a"}}`, `{"id":1.5e3,"method":"x"}`, `{"id":"\u0000","method":"echo","params":"\ud800"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		sent := make(chan json.RawMessage, 4)
		c := jsonrpc.New(func(_ context.Context, line json.RawMessage) error { sent <- line; return nil }, jsonrpc.Options{})
		c.Handle("echo", func(_ context.Context, params json.RawMessage) (any, error) { return params, nil })
		var call sync.WaitGroup
		call.Go(func() { _ = c.Call(t.Context(), "call", nil, &json.RawMessage{}) })
		<-sent
		m, err := c.Take(line)
		if err == nil && m.Kind() == jsonrpc.Request {
			reply, err := jsonrpc.Parse(<-sent)
			if err != nil || reply.Kind() != jsonrpc.Response || !json.Valid(m.ID) || string(reply.ID) != string(m.ID) {
				t.Errorf("%q got the reply %+v, %v", line, reply, err)
			}
		}
		c.Close(nil)
		call.Wait()
	})
}
