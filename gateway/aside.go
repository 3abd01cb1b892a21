package gateway

// aside calls do on a stack of its own, and returns when do has returned. A stack that has grown stays large, and a
// stream may last for hours.
func aside(do func()) {
	failed := make(chan any, 1)
	go func() {
		defer func() { failed <- recover() }()
		do()
	}()
	if p := <-failed; p != nil {
		panic(p)
	}
}
