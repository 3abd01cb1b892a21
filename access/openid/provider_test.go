package openid_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/access/openid"
)

// Strangers may ask for a sign-in as often as they like. Each question would wait for a provider
// that is away, one behind the other.
func TestAProviderThatIsAwayIsNotAskedForEachStranger(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(srv.Close)
	p, err := openid.New(openid.Config{Issuer: srv.URL, ClientID: "web"})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := p.AuthURL(t.Context(), "http://127.0.0.1/auth/callback", access.Secrets{}); err == nil {
			t.Error("a provider that is away signs people in")
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the provider was asked %d times for 10 strangers", n)
	}
}
