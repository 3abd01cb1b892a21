package httpjson

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// Error says why a call failed.
type Error struct {
	// Server is the base address, without a query.
	Server       string
	Method, Path string
	// Status is the status of the answer, or 0 if no answer came.
	Status int
	// Message is the server's sentence, or a sentence about what went wrong. The secrets of
	// the address are replaced.
	Message string
	// RetryAfter is the wait that the server asks for; 0 if none.
	RetryAfter time.Duration
	err        error
}

// Error implements error.
func (e *Error) Error() string {
	call := strings.TrimSpace(e.Method + " " + e.Path)
	if e.Status == 0 || e.Status/100 == 2 {
		return fmt.Sprintf("%s of %s failed: %s", call, e.Server, e.Message)
	}
	return fmt.Sprintf("%s refused %s with status %d: %s", e.Server, call, e.Status, e.Message)
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.err }

// longest bounds the sentence of a server in bytes.
const longest = 500

// mostRetryAfter bounds the wait that a server asks for in seconds.
const mostRetryAfter = 24 * time.Hour

// RetryAfter is the wait that the header of that name asks for, in seconds or until a time; 0 if
// none. The server's clock may be another, so a time counts from its own Date if there is one.
func RetryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, mostRetryAfter.Seconds()) * float64(time.Second))
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}

// sentence finds what a server says of its refusal.
func sentence(res *http.Response, body []byte) string {
	if to := res.Header.Get("Location"); to != "" && res.StatusCode/100 == 3 {
		return "the server redirects to " + cut(to) + ": use the final address"
	}
	if said := Sentence(body); said != "" && (json.Valid(body) || !strings.Contains(contentType(res), "html")) {
		return said
	}
	if text := http.StatusText(res.StatusCode); text != "" {
		return text
	}
	return "no reason was given"
}

// Sentence finds the sentence in the body of an error: servers and agents write errors in many
// forms. Of a body that is no JSON, the sentence is the first line.
func Sentence(body []byte) string {
	var whole any
	if json.Unmarshal(body, &whole) == nil {
		return cut(find(whole, 0))
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	return cut(strings.ToValidUTF8(line, ""))
}

// said is the beginning of a sentence that quotes an answer of a wrong type: the sentence of an error, the words of a page,
// or else the beginning. An answer without a word has none.
func said(res *http.Response) string {
	body, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20)) // what could be read is enough
	text := strings.ToValidUTF8(string(body), "")
	if strings.Contains(contentType(res), "html") {
		text = html.UnescapeString(regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`).ReplaceAllString(text, " "))
	}
	if json.Valid(body) {
		text = cmp.Or(Sentence(body), text)
	}
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return ""
	}
	return fmt.Sprintf("the server says %q: ", cut(text))
}

// deepest bounds how far a sentence is looked for in values within values.
const deepest = 6

// find returns the first sentence in the places where servers put it, or else the first text of several words.
func find(v any, depth int) string {
	if depth > deepest {
		return ""
	}
	switch v := v.(type) {
	case string:
		return within(strings.TrimSpace(v), depth)
	case []any:
		for _, one := range v[:min(len(v), 10)] {
			if said := find(one, depth+1); said != "" {
				return said
			}
		}
	case map[string]any:
		for _, key := range []string{
			"message", "error", "detail", "details", "data", "errors", "cause", "msg", "reason", "description", "error_message", "errorMessage",
			"error_description", "title", "name",
		} {
			if said := find(v[key], depth+1); said != "" {
				return said
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if said := find(v[key], depth+1); strings.Contains(said, " ") {
				return said
			}
		}
	}
	return ""
}

// Plain is a text without the JSON that it is, or with which it ends: some errors are JSON within JSON.
func Plain(text string) string { return within(text, 0) }

func within(text string, depth int) string {
	at := strings.IndexByte(text, '{')
	if strings.HasPrefix(text, "[") {
		at = 0
	}
	var inner any
	if at < 0 || json.Unmarshal([]byte(text[at:]), &inner) != nil {
		return text
	}
	said, before := find(inner, depth+1), strings.TrimRight(text[:at], " :-\n\t")
	switch {
	case said == "":
		return text
	case before == "":
		return said
	}
	return before + ": " + said
}

// remedy says what to do about a connection that could not be made.
func remedy(err error) string {
	said := err.Error()
	_, untrusted := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case untrusted:
		return said + ": let the environment variable SSL_CERT_FILE of the gateway name the certificate of the authority"
	case errors.Is(err, syscall.ECONNREFUSED):
		return said + ": does the server run, and is the port right?"
	case strings.Contains(said, "server gave HTTP response to HTTPS client"): // net/http has no type for this error
		return "the server speaks http and not https: write http:// in its address"
	}
	return said
}

func notJSON(res *http.Response) string {
	if kind := contentType(res); kind != "application/json" {
		return fmt.Sprintf("the answer is %s and not JSON: is the address right?", kind)
	}
	return "the answer has another form than expected"
}

func contentType(res *http.Response) string {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || kind == "" {
		return "of no known type"
	}
	return kind
}

// cut shortens a sentence at the border of a character.
func cut(s string) string {
	if len(s) <= longest {
		return s
	}
	end := longest
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
