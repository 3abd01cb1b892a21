package gateway

import "net/http"

// unkept says of every answer that no browser and no proxy may keep it. A stream and
// a file of the page say of themselves what holds for them.
func unkept(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
