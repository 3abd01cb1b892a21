package cli

import (
	"net/http"
	"net/http/cookiejar"
	"testing"
)

// Browsers keep cookies of one host together, whatever the port. Two gateways on one
// machine do not log each other's page out.
func TestThePagesOfTwoGatewaysOnOneHostStayLoggedIn(t *testing.T) {
	t.Parallel()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	one, two := startServer(t, t.TempDir()), startServer(t, t.TempDir())
	for range 2 { // the first page is opened before the second, and once more after it
		for _, s := range []*server{one, two} {
			open(t, browser, s.base+"/?token="+s.token, s.base)
			for _, other := range []*server{one, two} {
				if other == one || jarHas(browser, two) {
					open(t, browser, other.base+"/api/sessions", other.base)
				}
			}
		}
	}
}

// jarHas reports whether the browser has been at a gateway.
func jarHas(browser *http.Client, s *server) bool {
	req, _ := http.NewRequest(http.MethodGet, s.base, nil)
	return len(browser.Jar.Cookies(req.URL)) > 1
}

func open(t *testing.T, browser *http.Client, url, origin string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	req.Header.Set("Origin", origin)
	res, err := browser.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s: %s", url, res.Status)
	}
}
