package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/gateway/limit"
	"github.com/tributary-dev/tributary/gateway/refusal"
)

const mb = 1 << 20

// A body counts while it is read, and no longer.
func TestABodyGivesBackWhatItHolds(t *testing.T) {
	t.Parallel()
	long := `{"x":"` + strings.Repeat("x", 3*mb)
	l := limit.New(limit.Options{Memory: 100 * mb})
	g := &gateway{Options: Options{Read: time.Millisecond}, limiter: l}
	post := func(end string) error {
		_, done, err := g.read(httptest.NewRequest("POST", "/api/chat", io.MultiReader(strings.NewReader(long), strings.NewReader(end))))
		done()
		return err
	}
	reserve := func(bytes int64) *limit.Memory {
		t.Helper()
		m := l.Memory("", limit.Upload, 0, nil)
		if err := m.Reserve(bytes); err != nil {
			t.Fatal(err)
		}
		return m
	}
	reserve(4 * mb) // the oldest, which does not count
	second := reserve(96 * mb)
	if much, ok := errors.AsType[*refusal.Error](post(``)); !ok || much.Status != 429 || much.Code != "too_many_uploads" {
		t.Errorf("the refusal is %+v", much)
	}
	second.Release()
	for _, end := range []string{`","messages":[]}`, `"`, `]`, `"}x`, ``} {
		if status, _ := statusOf(post(end)); end != `","messages":[]}` && status != 400 {
			t.Errorf("%s: %d", end, status)
		}
		reserve(100 * mb).Release() // fits if nothing else counts
	}
}

// Tokens without a judgement yet count as one sender, so many invented tokens get no
// more memory than one.
//
//evidence:for limit-uploads
func TestLargeBodiesOfMadeUpTokensHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gateway{Options: Options{Read: time.Second}, limiter: limit.New(limit.Options{Memory: 10 * mb})}
		hold := func(bearer string, role access.Role) error {
			token := access.NewPassThrough(bearer)
			ctx := access.WithPassThrough(access.With(t.Context(), token.Known("ops", "", role)), token)
			return g.memory(httptest.NewRequestWithContext(ctx, "POST", "/api/chat", nil), limit.Upload, nil).Reserve(8 * mb)
		}
		for i, fits := range []bool{true, true, false} { // the oldest, one beside it, and no more
			if err := hold(fmt.Sprint("sk_", i), 0); (err == nil) != fits {
				t.Errorf("token %d gets %v", i, err)
			}
		}
		if err := hold("sk_0", access.Collaborator); err != nil {
			t.Errorf("who is known gets %v", err)
		}
	})
}
