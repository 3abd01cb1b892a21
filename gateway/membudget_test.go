package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/access"
)

const mb = 1 << 20

// stage is a limiter whose principals may hold 10 MB beside their oldest body.
func stage() (l *limiter, enter func(who string) *memUse) {
	l = newLimiter(Limits{})
	l.limits.Memory = 10 * mb
	return l, func(who string) *memUse { return &memUse{limiter: l, principal: who, within: 30 * time.Second} }
}

//evidence:for limit-uploads
func TestLargeBodiesHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, enter := stage()
		hold := func(b *memUse, holds int64, wait time.Duration, fits bool) {
			t.Helper()
			began := time.Now()
			err := b.reserve(holds)
			if time.Since(began) != wait || (err == nil) != fits {
				t.Errorf("%v after %s", err, time.Since(began))
			}
			const want = "Large messages of yours that are being read take up the 10 MB that they may: try again when one of them is through."
			if status, code := statusOf(err); !fits && (status != 429 || code != "too_many_uploads" || err.Error() != want) {
				t.Errorf("%d %s: %v", status, code, err)
			}
		}
		oldest, second, third, small := enter("ada"), enter("ada"), enter("ada"), enter("ada")
		hold(oldest, 50*mb, 0, true) // one always goes on
		hold(second, 6*mb, 0, true)
		hold(third, 4*mb, 0, true)
		hold(oldest, 60*mb, 0, true)
		hold(small, mb-1, 0, true)
		hold(small, mb, 30*time.Second, false)
		hold(enter("bob"), 50*mb, 0, true)
		time.AfterFunc(time.Second, func() { second.change(0) })
		hold(third, 10*mb, time.Second, true)
		hold(second, 2*mb, 30*time.Second, false)
		time.AfterFunc(time.Second, func() { oldest.change(0) })
		hold(second, 10*mb, time.Second, true) // third is the oldest now
		hold(third, 100*mb, 0, true)
		for _, b := range []*memUse{second, third, small} {
			b.change(0)
		}
		if s := l.of["ada"]; !s.empty() || len(s.memory[upload].waiting) != 0 || !s.rests() {
			t.Errorf("what is left is %+v", s)
		}
	})
}

// However many are read at once, and each for more than all together may hold, they
// get through.
//
//evidence:for limit-uploads
func TestLargeBodiesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, enter := stage()
		for range 20 {
			go func() {
				b := enter("ada")
				defer b.change(0)
				for holds := range int64(16) {
					if err := b.reserve(holds * mb); err != nil {
						t.Error(err)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
		}
		synctest.Wait()
		time.Sleep(time.Minute)
	})
}

// Room goes to those in line, in their order: one that comes later does not overtake them, and
// only those wake who have room.
func TestRoomIsGivenInTheOrderOfTheLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, enter := stage()
		var mu sync.Mutex
		var order []int
		var line sync.WaitGroup
		for i := range 100 {
			line.Go(func() {
				b := enter("ada")
				b.within = time.Hour
				if err := b.reserve(8 * mb); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				b.change(0)
			})
			time.Sleep(time.Millisecond)
		}
		line.Wait()
		if len(order) != 100 || !slices.IsSorted(order) {
			t.Errorf("they got room as %v", order)
		}
	})
}

// While a body is read it is in line for what it holds, and after that for nothing.
func TestABodyGivesBackWhatItHolds(t *testing.T) {
	t.Parallel()
	l, _ := stage()
	g := &gateway{Options: Options{Read: time.Millisecond}, limiter: l}
	long := `{"id":"` + strings.Repeat("x", 3*mb)
	post := func(end string) error {
		_, done, err := g.read(httptest.NewRequest("POST", "/api/chat", io.MultiReader(strings.NewReader(long), strings.NewReader(end))))
		done()
		return err
	}
	first, second := &memUse{limiter: l}, &memUse{limiter: l}
	for _, b := range []*memUse{first, second} {
		if err := b.reserve(4 * mb); err != nil {
			t.Fatal(err)
		}
	}
	if status, code := statusOf(post(``)); status != 429 || code != "too_many_uploads" {
		t.Errorf("%d %s", status, code)
	}
	l.limits.Memory = 100 * mb
	second.change(0)
	long = `{"x":"` + long[7:]
	for _, end := range []string{`","messages":[]}`, `"`, `]`, `"}x`, ``} {
		if status, _ := statusOf(post(end)); end != `","messages":[]}` && status != 400 {
			t.Errorf("%s: %d", end, status)
		}
		if s := l.of[""]; len(s.memory[upload].uses) != 1 {
			t.Errorf("%s: %d large bodies are left", end, len(s.memory[upload].uses))
		}
	}
}

// The counted size of a body is its size, whatever part of it is kept.
//
//evidence:for limit-uploads
func TestWhatABodyHolds(t *testing.T) {
	text := strings.Repeat(`hello\n`, mb/2)
	body := `{"x":"` + text + `","messages":[{"role":"assistant","id":"m1","parts":[{"type":"text","text":"` + text + `"}]},` +
		`{"role":"user","id":"u1","parts":[{"type":"text","text":"` + text + `"},{"type":"text","text":"` + text + `"}]},` +
		`{"role":"assistant","id":"m2","parts":[` + strings.Repeat(`{"n":1},`, mb/16) + `{"type":"text","text":"` + text + `"}]}],"y":"z"}`
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most := heap(), int64(0)
	req, err := readChat(&pieces{strings.NewReader(body), 256 << 10}, postLimits, func(held int64) error {
		most = max(most, held)
		if holds := heap() - before; holds > held+mb {
			t.Errorf("it holds %d KB, and %d are counted", holds>>10, held>>10)
		}
		return nil
	})
	if err != nil || req.User == nil || most > 80*mb {
		t.Errorf("%d MB at the most: %v", most>>20, err)
	}
	runtime.KeepAlive(body)
}

// pieces gives no more than so many bytes at once, as a connection does.
type pieces struct {
	r    io.Reader
	most int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.most)]) }

// A history is counted while it is sent, so that slow readers of large ones do not add
// up; who uploads is not in their way.
//
//evidence:for limit-downloads
func TestLargeHistoriesHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _ := stage()
		hold := func(c memClass, holds int64) error {
			return (&memUse{limiter: l, principal: "ada", class: c, within: time.Second}).reserve(holds)
		}
		for _, holds := range []int64{64 * mb, 10 * mb} { // the oldest, and those beside it
			if err := hold(download, holds); err != nil {
				t.Fatal(err)
			}
		}
		if late, ok := errors.AsType[*rateLimited](hold(download, mb)); !ok || late.code != "too_many_downloads" {
			t.Errorf("one more gets %v", late)
		}
		if err := hold(upload, 64*mb); err != nil {
			t.Errorf("an upload gets %v", err)
		}
	})
}

// Tokens without a judgement yet count as one sender, so many invented tokens get no
// more memory than one.
//
//evidence:for limit-uploads
func TestLargeBodiesOfMadeUpTokensHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _ := stage()
		g := &gateway{Options: Options{Read: time.Second}, limiter: l}
		hold := func(token string, role access.Role) error {
			guest := access.NewGuest(token)
			ctx := access.WithGuest(access.With(t.Context(), guest.Known("ops", "", role)), guest)
			return g.memUse(httptest.NewRequestWithContext(ctx, "POST", "/api/chat", nil), upload).reserve(8 * mb)
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
