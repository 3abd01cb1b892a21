package workspace

import (
	"context"
	"sync"
)

// Hang fills the Dir with operations that hang until release is called.
func Hang(d Dir) (release func()) {
	stop := make(chan struct{})
	var begun, over sync.WaitGroup
	for range mostHanging {
		begun.Add(1)
		over.Go(func() {
			_, _ = bounded(d.gate, func(context.Context) (bool, error) {
				begun.Done()
				<-stop
				return true, nil
			})
		})
	}
	begun.Wait()
	over.Wait() // all of them have been given up
	return sync.OnceFunc(func() {
		close(stop)
		for range mostHanging {
			d.gate.slots <- struct{}{}
		}
		for range mostHanging {
			<-d.gate.slots
		}
	})
}
