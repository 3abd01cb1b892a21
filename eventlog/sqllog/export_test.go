package sqllog

// Shared lets several stores use one database.
func Shared(o Options) Options {
	o.shared = true
	return o
}
