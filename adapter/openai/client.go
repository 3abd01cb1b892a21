package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/tributary-dev/tributary/internal/address"
)

// object is a JSON object of a request.
type object = map[string]any

// endpoint is how the model is reached.
type endpoint struct {
	Runtime
	base *url.URL
	key  string
	wire *http.Transport // its idle connections are closed with the session
}

func (r Runtime) endpoint() (endpoint, error) {
	key := os.Getenv(r.TokenEnv)
	if r.TokenFile != "" {
		text, err := os.ReadFile(r.TokenFile)
		if err != nil {
			return endpoint{}, fmt.Errorf("%s: the key cannot be read: %w", r.name(), err)
		}
		key = strings.TrimSpace(string(text))
	}
	base, err := url.Parse(r.URL)
	if err != nil {
		return endpoint{}, r.validate()
	}
	wire := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert,errcheck // the standard library says so
	return endpoint{Runtime: r, base: base, key: key, wire: wire}, nil
}

// send makes a request, whose body is nil for a GET. The answer has a status of success.
func (e endpoint) send(ctx context.Context, path string, body object) (*http.Response, error) {
	method, content := http.MethodGet, io.Reader(nil)
	if body != nil {
		text, err := e.encode(body)
		if err != nil {
			return nil, err
		}
		method, content = http.MethodPost, bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, e.base.JoinPath(path).String(), content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream")
	}
	if e.key != "" {
		req.Header.Set("Authorization", "Bearer "+e.key)
	}
	client := http.Client{Transport: e.wire, CheckRedirect: sameMethod}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	page := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
	if !page && res.StatusCode < http.StatusMultipleChoices {
		return res, nil
	}
	defer res.Body.Close() //nolint:errcheck // it was read
	return nil, refusal(res, page)
}

// encode writes a request with the parameters of the configuration.
func (e endpoint) encode(body object) ([]byte, error) {
	body = maps.Clone(body)
	for name, value := range e.Params {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(body)
	return text.Bytes(), err
}

// sameMethod follows a redirect unless the redirect would make a GET of the request.
func sameMethod(req *http.Request, via []*http.Request) error {
	if req.Method != via[0].Method || len(via) > 5 {
		return http.ErrUseLastResponse
	}
	return nil
}

// refusal is the error of an answer that is a page, or has no status of success.
func refusal(res *http.Response, page bool) error {
	wrong := res.StatusCode < http.StatusBadRequest || res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusMethodNotAllowed
	if page && wrong { // proxies write pages about other failures
		return errNotAnAPI
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return err
	}
	f := newFailure(body)
	f.status, f.header = res.StatusCode, res.Header
	if page {
		f.message = http.StatusText(res.StatusCode)
	}
	if to := res.Header.Get("Location"); to != "" && res.StatusCode < http.StatusBadRequest {
		f.message = "the endpoint redirects to " + address.Public(to)
	}
	return f
}

// Probe implements agent.Prober: it asks the endpoint for its models.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	e, err := r.endpoint()
	if err != nil {
		return "", err
	}
	defer e.wire.CloseIdleConnections()
	if err := e.models(ctx); err != nil {
		return "", e.explain(err)
	}
	return cmp.Or(r.Model, "any model") + " at " + address.Public(r.URL), nil
}

// maxModels bounds a list of models in bytes.
const maxModels = 4 << 20

// models reads the list of models. Not every server has one.
func (e endpoint) models(ctx context.Context) error {
	res, err := e.send(ctx, "models", nil)
	if f, ok := err.(*failure); ok && f.status == http.StatusNotFound { //nolint:errorlint // send returns it as it is
		return nil
	}
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(res.Body, maxModels+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxModels:
		return strangeError{fmt.Sprintf("a list of models of more than %d MB", maxModels>>20)}
	case !json.Valid(text):
		return strangeError{quoted(text)}
	}
	return nil
}
