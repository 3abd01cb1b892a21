package gateway

import "slices"

// maxBlank is how much space may stand between two tokens of a body. The decoder
// scans all of the space again for every piece that comes, so that the time grows
// with the square of the space. 16 MB took a minute and a half.
const maxBlank = 64 << 10

// blank counts the space at the end of what was read so far.
type blank int64

func (b *blank) read(p []byte) {
	for i, c := range slices.Backward(p) {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			*b = blank(len(p) - 1 - i)
			return
		}
	}
	*b += blank(len(p))
}
