package quote

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// InputText returns raw as a text if a browser's JSON.parse would lose some of it, and else "".
// JSON.parse loses all but the last value of a key that an object has twice, and digits or the
// sign of some numbers. Such a text is shown to the person who decides, because the agent runs what is
// written, and not what a browser has read. A text that is no JSON gives "".
func InputText(raw []byte) string {
	if !json.Valid(raw) || !losesInBrowser(raw) {
		return ""
	}
	return string(raw)
}

// losesInBrowser scans valid JSON. It calls itself for no depth, because an agent decides on it.
func losesInBrowser(raw []byte) bool {
	var open []map[string]struct{} // the keys of each open object so far; nil for a list
	for i := 0; i < len(raw); {
		n := 1
		switch c := raw[i]; {
		case c == '{':
			open = append(open, map[string]struct{}{})
		case c == '[':
			open = append(open, nil)
		case c == '}' || c == ']':
			open = open[:len(open)-1]
		case c == '"':
			n = stringLen(raw[i:])
			if !isKey(raw[i+n:]) {
				break
			}
			keys, key := open[len(open)-1], keyOf(raw[i:i+n])
			if _, twice := keys[key]; twice {
				return true
			}
			keys[key] = struct{}{}
		case c == '-' || '0' <= c && c <= '9':
			n = numberLen(raw[i:])
			if !exactInBrowser(string(raw[i : i+n])) {
				return true
			}
		}
		i += n
	}
	return false
}

// isKey reports whether a string that ends before rest is a key.
func isKey(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
}

// keyOf is a key without its escapes: "a" and "\u0061" are the same key.
func keyOf(quoted []byte) string {
	key := string(quoted[1 : len(quoted)-1])
	if strings.Contains(key, `\`) {
		_ = json.Unmarshal(quoted, &key) // it is valid
	}
	return key
}

// numberLen is the length of the number at the beginning of raw.
func numberLen(raw []byte) int {
	for i, c := range raw {
		if !strings.ContainsRune("0123456789+-.eE", rune(c)) {
			return i
		}
	}
	return len(raw)
}

// exactInBrowser reports whether a browser prints a number of JSON with the same decimal value
// after it has read it as a float64.
func exactInBrowser(number string) bool {
	if len(number) <= 15 && !strings.ContainsAny(number, "-eE") {
		return true // a float64 keeps 15 digits
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || math.Signbit(value) && value == 0 { // too large; or a browser prints -0 as 0
		return false
	}
	digits, exponent := decimal(number)
	printed, printedExponent := decimal(strconv.FormatFloat(value, 'e', -1, 64))
	return digits == printed && exponent == printedExponent
}

// decimal is a number as its digits without zeros at either end, and the power of ten of the
// last of them. Zero has no digits, and the power 0.
func decimal(number string) (digits string, exponent int) {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	digits = strings.TrimRight(all, "0")
	if digits == "" {
		return "", 0
	}
	if power != "" {
		exponent, _ = strconv.Atoi(power) // beyond an int it is one of the ends, which no printed number has
	}
	return digits, exponent - len(fraction) + len(all) - len(digits)
}
