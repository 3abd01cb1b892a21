package spaces

import "context"

// CopyWithin is Copy with other bounds.
func CopyWithin(ctx context.Context, source, target string, bytes int64, entries int) error {
	return copyWithin(ctx, source, target, bounds{bytes, entries})
}
