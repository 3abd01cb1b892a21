package limit

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

const mb = 1 << 20

// stage is a limiter whose principals may hold 10 MB beside their oldest body.
func stage() (l *Limiter, enter func(who string) *Memory) {
	l = New(Options{Memory: 10 * mb})
	return l, func(who string) *Memory { return l.Memory(who, Upload, 30*time.Second, nil) }
}

//evidence:for limit-uploads
func TestLargeBodiesHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, enter := stage()
		hold := func(b *Memory, holds int64, wait time.Duration, fits bool) {
			t.Helper()
			began := time.Now()
			err := b.Reserve(holds)
			if time.Since(began) != wait || (err == nil) != fits {
				t.Errorf("%v after %s", err, time.Since(began))
			}
			const want = "Large messages of yours that are being read take up the 10 MB that they may: try again when one of them is through."
			if much, ok := errors.AsType[*refusal.Error](err); !fits && (!ok || much.Status != 429 || much.Code != "too_many_uploads" || much.Sentence != want) {
				t.Errorf("the refusal is %+v", much)
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
		time.AfterFunc(time.Second, func() { second.Release() })
		hold(third, 10*mb, time.Second, true)
		hold(second, 2*mb, 30*time.Second, false)
		time.AfterFunc(time.Second, func() { oldest.Release() })
		hold(second, 10*mb, time.Second, true) // third is the oldest now
		hold(third, 100*mb, 0, true)
		for _, b := range []*Memory{second, third, small} {
			b.Release()
		}
		if s := l.of["ada"]; !s.empty() || len(s.memory[Upload].waiting) != 0 || !s.idle() {
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
				defer b.Release()
				for holds := range int64(16) {
					if err := b.Reserve(holds * mb); err != nil {
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
				b.wait = time.Hour
				if err := b.Reserve(8 * mb); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second)
				b.Release()
			})
			time.Sleep(time.Millisecond)
		}
		line.Wait()
		if len(order) != 100 || !slices.IsSorted(order) {
			t.Errorf("they got room as %v", order)
		}
	})
}

// A history is counted while it is sent, so that slow readers of large ones do not add
// up; who uploads is not in their way.
//
//evidence:for limit-downloads
func TestLargeHistoriesHaveABound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _ := stage()
		hold := func(c Class, holds int64) error {
			return l.Memory("ada", c, time.Second, nil).Reserve(holds)
		}
		for _, holds := range []int64{64 * mb, 10 * mb} { // the oldest, and those beside it
			if err := hold(Download, holds); err != nil {
				t.Fatal(err)
			}
		}
		if late, ok := errors.AsType[*refusal.Error](hold(Download, mb)); !ok || late.Code != "too_many_downloads" {
			t.Errorf("one more gets %v", late)
		}
		if err := hold(Upload, 64*mb); err != nil {
			t.Errorf("an upload gets %v", err)
		}
	})
}
