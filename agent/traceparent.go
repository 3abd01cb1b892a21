package agent

import "strings"

// ParseTraceparent reads a header of the W3C Trace Context (https://www.w3.org/TR/trace-context/). A
// text that is not well-formed gives "", so that the next reader begins a trace of its own. A header
// of a later version is given in the known form, which is version 00.
func ParseTraceparent(v string) string {
	const (
		version = 2
		trace   = version + 1 + 32
		parent  = trace + 1 + 16
		all     = parent + 1 + 2
		sampled = 1
	)
	if len(v) < all {
		return ""
	}
	for _, field := range []string{v[:version], v[version+1 : trace], v[trace+1 : parent], v[parent+1 : all]} {
		if strings.Trim(field, "0123456789abcdef") != "" {
			return ""
		}
	}
	switch {
	case v[version] != '-' || v[trace] != '-' || v[parent] != '-',
		v[:version] == "ff",
		strings.Trim(v[version+1:trace], "0") == "",
		strings.Trim(v[trace+1:parent], "0") == "",
		len(v) > all && (v[:version] == "00" || v[all] != '-'):
		return ""
	case v[:version] == "00":
		return v
	}
	flags := "00"
	if strings.IndexByte("0123456789abcdef", v[all-1])&sampled != 0 {
		flags = "01"
	}
	return "00" + v[version:parent+1] + flags
}
