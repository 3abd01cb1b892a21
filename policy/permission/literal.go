package permission

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestPath is how long a path may be that is taken to the letter.
const longestPath = 4096

// special are the characters that shells, programs or Windows read as more than
// a part of a name: variables, patterns, quotes, commands, drives and escapes.
const special = "*?[]{}$%`\\\"'<>|;&:"

// literal reports whether every agent must read the path to the letter. A path
// with anything that an agent may expand, trim or normalise first is not literal,
// and so is not proven to name the file that it spells.
func literal(p string) bool {
	if p == "" || len(p) > longestPath || !utf8.ValidString(p) || strings.TrimSpace(p) != p {
		return false
	}
	if strings.ContainsRune("-=@!+#", rune(p[0])) {
		return false // an option, or a mark that some programs cut off
	}
	if strings.Contains(p, "@(") || strings.Contains(p, "!(") || strings.Contains(p, "+(") {
		return false // a pattern of some shells
	}
	for _, r := range p {
		if strings.ContainsRune(special, r) || !steady(r) {
			return false
		}
	}
	for segment := range strings.SplitSeq(p, "/") {
		dots := segment == "." || segment == ".."
		if strings.HasPrefix(segment, "~") || !dots && (strings.HasSuffix(segment, ".") || strings.HasSuffix(segment, " ")) {
			return false // a home; or a name that Windows shortens
		}
	}
	return true
}

// steady reports whether a character stays what it is when a program normalises
// text or converts text to an older encoding. Relatives of dots, slashes and
// tildes do not.
func steady(r rune) bool {
	switch {
	case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), r != ' ' && unicode.IsSpace(r):
		return false
	case 0x2010 <= r && r <= 0x206F, 0x2200 <= r && r <= 0x22FF, 0x29F0 <= r && r <= 0x29FF: // punctuation, operators
		return false
	case 0xFE10 <= r && r <= 0xFE6F, 0xFF00 <= r && r <= 0xFFEF, r == 0x02DC, r == 0xA789: // small and wide forms
		return false
	}
	return true
}

// mostAlternatives bounds what the braces of a pattern unfold to.
const mostAlternatives = 64

// unfold replaces {a,b} by its alternatives, as a shell does.
func unfold(pattern string) (all []string, ok bool) {
	all = []string{pattern}
	for i := 0; i < len(all); {
		head, inner, tail, found, ok := braces(all[i])
		if !ok {
			return nil, false
		}
		if !found {
			i++
			continue
		}
		var next []string
		for _, a := range inner {
			next = append(next, head+a+tail)
		}
		all = append(all[:i], append(next, all[i+1:]...)...)
		if len(all) > mostAlternatives {
			return nil, false
		}
	}
	return all, true
}

// braces takes the innermost first group of braces apart.
func braces(pattern string) (head string, alternatives []string, tail string, found, ok bool) {
	end := strings.IndexByte(pattern, '}')
	if end < 0 {
		return "", nil, "", false, !strings.Contains(pattern, "{")
	}
	begin := strings.LastIndexByte(pattern[:end], '{')
	if begin < 0 {
		return "", nil, "", false, false
	}
	inner := pattern[begin+1 : end]
	if !strings.Contains(inner, ",") || strings.Contains(inner, "..") {
		return "", nil, "", false, false // {a} and {1..3} mean different things to different programs
	}
	return pattern[:begin], strings.Split(inner, ","), pattern[end+1:], true, true
}

// fixed returns the directory in front of the first segment with a wildcard, or
// the whole of a pattern without one. It reports false for a pattern that may
// climb, or whose parts are not literal.
func fixed(pattern string) (prefix string, ok bool) {
	if len(pattern) > longestPath {
		return "", false
	}
	wild := false
	for i, segment := range strings.Split(pattern, "/") {
		switch {
		case segment == "..":
			return "", false
		case segment == "" && i == 0:
			prefix = "/"
			continue
		case segment == "" || segment == ".":
			continue
		case !strings.ContainsAny(segment, "*?["):
			if !literal(segment) {
				return "", false
			}
			if !wild {
				prefix = path.Join(prefix, segment)
			}
			continue
		}
		wild = true
		if !harmless(segment) {
			return "", false
		}
	}
	if prefix == "" {
		prefix = "."
	}
	return prefix, true
}

// harmless reports whether a segment with wildcards matches names only. ".*" and
// "[.]." match ".." in some shells.
func harmless(segment string) bool {
	letters := strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]^!", r) {
			return 'x'
		}
		return r
	}, segment)
	if !literal(letters) || strings.ContainsAny(segment, "()") {
		return false
	}
	if segment[0] == '*' || segment[0] == '?' {
		return true // wildcards at the beginning match no dot
	}
	climbs, err := path.Match(segment, "..")
	return err == nil && !climbs
}
