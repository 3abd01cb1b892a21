package httpjson_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tributary-dev/tributary/internal/httpjson"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server and returns a client of it.
func serve(t *testing.T, cfg httpjson.Config, handle http.HandlerFunc) *httpjson.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	cfg.URL = server.URL + cfg.URL
	c, err := httpjson.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestACallSendsAndReadsJSON(t *testing.T) {
	t.Parallel()
	c := serve(t, httpjson.Config{URL: "/base", Username: "me", Password: "pw"}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		if got := r.Method + r.URL.String() + string(body) + user + password; got != `POST/base/a/b?x=1%262{"q":1}mepw` {
			t.Errorf("the server got %s", got)
		}
		_, _ = io.WriteString(w, `{"a":"b"}`)
	})
	var out struct{ A string }
	err := c.Do(t.Context(), httpjson.Call{Method: "POST", Path: "/a/b", Query: map[string][]string{"x": {"1&2"}}, In: map[string]int{"q": 1}, Out: &out})
	if err != nil || out.A != "b" {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestTheAddressIsUsedToTheLetter(t *testing.T) {
	t.Parallel()
	for base, wants := range map[string][2]string{
		"/a/":      {"/a/", "/a/more?n=1"},
		"/a":       {"/a", "/a/more?n=1"},
		"/a?z=1+2": {"/a?z=1+2", "/a/more?n=1&z=1+2"},
	} {
		var got string
		c := serve(t, httpjson.Config{URL: base}, func(_ http.ResponseWriter, r *http.Request) { got = r.URL.String() })
		for n, call := range []httpjson.Call{{Method: "GET"}, {Method: "GET", Path: "more", Query: map[string][]string{"n": {"1"}}}} {
			if err := c.Do(t.Context(), call); err != nil || got != wants[n] {
				t.Errorf("%s becomes %s, want %s (%v)", base, got, wants[n], err)
			}
		}
	}
}

func TestABearerTokenIsSent(t *testing.T) {
	t.Parallel()
	c := serve(t, httpjson.Config{Bearer: "tok"}, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer tok" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	if err := c.Do(t.Context(), httpjson.Call{Method: "GET", Path: "/"}); err != nil {
		t.Error(err)
	}
}

func TestAFailureIsOneErrorWithStatusAndSentence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		status int
		want   string
	}{
		"a message":               {answer(400, "application/json", `{"message":"no such model"}`), 400, "no such model"},
		"a nested message":        {answer(404, "application/json", `{"name":"x","data":{"message":"Session not found"}}`), 404, "Session not found"},
		"an error text":           {answer(500, "application/json", `{"error":"boom"}`), 500, "boom"},
		"a list of errors":        {answer(422, "application/json", `{"errors":[{"message":"is too long"}]}`), 422, "is too long"},
		"a text in an error":      {answer(400, "application/json", `{"error":{"details":"no such key"}}`), 400, "no such key"},
		"a cause":                 {answer(400, "application/json", `{"code":"x","cause":{"code":7,"message":"used up"}}`), 400, "used up"},
		"JSON in a text":          {answer(400, "application/json", `{"error":"400: {\"error\":{\"message\":\"no such model\"}}"}`), 400, "400: no such model"},
		"the second of a list":    {answer(422, "application/json", `[{"path":[]},{"msg":"is too long"}]`), 422, "is too long"},
		"an unknown key":          {answer(400, "application/json", `{"code":"x","why":{"en":"the plan is used up"}}`), 400, "the plan is used up"},
		"a name in brackets":      {answer(400, "application/json", `{"message":"no model [x"}`), 400, "no model [x"},
		"only a name":             {answer(400, "application/json", `{"name":"BadRequest","data":{}}`), 400, "BadRequest"},
		"plain text":              {answer(503, "text/plain", "come back\nlater"), 503, "come back"},
		"a page":                  {answer(502, "text/html", "<html>"), 502, "Bad Gateway"},
		"nothing":                 {answer(401, "", ""), 401, "Unauthorized"},
		"a long text":             {answer(400, "text/plain", strings.Repeat("ü", 300)), 400, "ü…"},
		"a redirect":              {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, 302, "redirects to /login"},
		"a page with success":     {answer(200, "text/html", "<html>"), 200, "text/html and not JSON"},
		"another form":            {answer(200, "application/json", `[1]`), 200, "another form"},
		"an answer without limit": {answer(200, "application/json", strings.Repeat(" ", 2000)), 200, "larger than 1000 bytes"},
		"a cut":                   {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, "EOF"},
		"silence":                 {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "no answer came within 200ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := serve(t, httpjson.Config{Timeout: 200 * time.Millisecond, MaxBody: 1000}, c.handle)
			var out struct{}
			for i, err := range []error{
				client.Do(t.Context(), httpjson.Call{Method: "GET", Path: "/x", Out: &out}),
				streamError(t.Context(), client),
			} {
				if i == 1 && c.status == 200 {
					continue // what it says of the type is tested below
				}
				failure, ok := errors.AsType[*httpjson.Error](err)
				if !ok || failure.Status != c.status || !strings.Contains(failure.Message, c.want) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %#v: %v", err, err)
				}
			}
		})
	}
}

func TestARefusalHasTheWaitThatTheServerAsksFor(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-1": 0, "2": 2 * time.Second, "0.5": 500 * time.Millisecond, "1e300": 24 * time.Hour,
		"Sat, 28 Nov 2026 10:00:07 GMT": 7 * time.Second, "Sat, 28 Nov 2026 09:00:00 GMT": 0,
	} {
		c := serve(t, httpjson.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Sat, 28 Nov 2026 10:00:00 GMT")
			w.Header().Set("Retry-After", header)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		failure, ok := errors.AsType[*httpjson.Error](c.Do(t.Context(), httpjson.Call{Method: "GET"}))
		if !ok || failure.RetryAfter != want {
			t.Errorf("%q: %+v", header, failure)
		}
	}
}

func answer(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func streamError(ctx context.Context, c *httpjson.Client) error {
	s, err := c.Stream(ctx, httpjson.Call{Method: "GET", Path: "/x"})
	if err == nil {
		_ = s.Close()
	}
	return err
}

func TestAConnectionThatCannotBeMadeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secret := httptest.NewUnstartedServer(http.NotFoundHandler())
	secret.Config.ErrorLog = log.New(io.Discard, "", 0)
	secret.StartTLS()
	t.Cleanup(secret.Close)
	for address, want := range map[string]string{
		strings.Replace(plain.URL, "http:", "https:", 1): ": the server speaks http and not https: write http:// in its address",
		secret.URL:           "SSL_CERT_FILE",
		"http://127.0.0.1:1": "POST of http://127.0.0.1:1 failed: dial tcp 127.0.0.1:1: connect: connection refused: does the server run, and is the port right?",
	} {
		c, err := httpjson.New(httpjson.Config{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Do(t.Context(), httpjson.Call{Method: http.MethodPost}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
		c.Close()
	}
}

func TestAStreamOutlivesTheTimeLimit(t *testing.T) {
	t.Parallel()
	c := serve(t, httpjson.Config{Timeout: 50 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(150 * time.Millisecond):
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "data: 2\n\n")
	})
	s, err := c.Stream(t.Context(), httpjson.Call{Method: "GET", Path: "/event"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // read only
	if all, err := io.ReadAll(s); err != nil || string(all) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("got %q, %v", all, err)
	}
}

func TestAPageIsNoStream(t *testing.T) {
	t.Parallel()
	c := serve(t, httpjson.Config{}, answer(200, "text/html", "<html>"))
	if err := streamError(t.Context(), c); err == nil || !strings.Contains(err.Error(), "text/html and no stream of events") {
		t.Error(err)
	}
}

func TestWrongAddressesAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:80", "ftp://a", "http://", "http://a:b@c/", "\x00"} {
		if _, err := httpjson.New(httpjson.Config{URL: address}); err == nil || strings.Contains(err.Error(), "a:b") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestACanceledCallNamesItsCause(t *testing.T) {
	t.Parallel()
	c := serve(t, httpjson.Config{}, answer(200, "application/json", "{}"))
	cause := errors.New("the turn is over")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := c.Do(ctx, httpjson.Call{Method: "GET", Path: "/"}); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}
