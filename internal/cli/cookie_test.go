package cli

import (
	"net/http"
	"net/http/cookiejar"
	neturl "net/url"
	"testing"
)

// Browsers keep the cookies of one host together, whatever the port. Two gateways on one
// machine do not log each other's page out.
func TestThePagesOfTwoGatewaysOnOneHostStayLoggedIn(t *testing.T) {
	t.Parallel()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	one, two := startServer(t, t.TempDir()), startServer(t, t.TempDir())
	pages := map[string]string{} // the secret that each page keeps
	for _, url := range []string{
		one.base + "/?token=" + one.token, two.base + "/?token=" + two.token, // both pages are opened
		one.base + "/api/sessions", two.base + "/api/sessions", // and used
		one.base + "/?token=" + one.token, two.base + "/api/sessions", one.base + "/api/sessions",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("X-Tributary-Page", pages[req.URL.Host])
		res, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if values, err := neturl.ParseQuery(res.Request.URL.Fragment); err == nil && values.Has("page") {
			pages[req.URL.Host] = values.Get("page")
		}
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", url, res.Status)
		}
	}
}
