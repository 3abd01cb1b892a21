package session

// uses counts what is under way, so that an owner can wait until nothing is. The session's
// mutex guards it.
type uses struct {
	n    int
	none chan struct{} // closed when nothing is under way; nil if nobody waits
}

func (u *uses) begin() { u.n++ }

func (u *uses) end() {
	if u.n--; u.n == 0 && u.none != nil {
		close(u.none)
		u.none = nil
	}
}

// over is a channel that closes when nothing is under way.
func (u *uses) over() <-chan struct{} {
	if u.n == 0 {
		return alreadyEnded
	}
	if u.none == nil {
		u.none = make(chan struct{})
	}
	return u.none
}
