package send

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/internal/httpjson"
)

// This file reads what a receiver answers, and says what a person can do.

// answer is an answer of the receiver, zero if there is none.
type answer struct {
	status     int
	page       bool // it is a page for a browser
	retryAfter time.Duration
	to         string // where it sends on to
	refused    int64  // spans of a request that it took
	words      string // one line
}

// read reads an answer. A receiver that took the spans and says so in no form that is known has
// taken all.
func read(res *http.Response, body []byte, hide func(string) string) answer {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	a := answer{status: res.StatusCode, page: kind == "text/html" || kind == "" && bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))}
	asJSON, asProto := strings.HasSuffix(kind, "json"), strings.HasSuffix(kind, "protobuf")
	text := ""
	switch {
	case a.page, a.taken() && !asJSON && !asProto:
	case a.taken() && asJSON:
		var in struct {
			PartialSuccess struct {
				RejectedSpans json.Number // a number, or one in quotation marks
				ErrorMessage  string
			}
		}
		_ = json.Unmarshal(body, &in)                          // what is no such answer took all
		a.refused, _ = in.PartialSuccess.RejectedSpans.Int64() // none is none
		text = in.PartialSuccess.ErrorMessage
	case a.taken(): // ExportTraceServiceResponse, whose official message would bring all of gRPC with it
		_, response := fields(body)
		counts, words := fields(response[1])
		a.refused, text = int64(counts[1]), string(words[2]) //nolint:gosec // as protobuf has it
	case asProto: // google.rpc.Status
		_, words := fields(body)
		text = string(words[2])
	default:
		text = cmp.Or(sentence(body), string(body))
	}
	a.words = hide(words(text))
	a.retryAfter = httpjson.RetryAfter(res.Header)
	if at, err := res.Location(); err == nil {
		a.to = address.Public(at.String())
	}
	return a
}

// fields are the numbers and the texts in a message of protobuf, up to what is none.
func fields(message []byte) (numbers map[protowire.Number]uint64, contents map[protowire.Number][]byte) {
	numbers, contents = map[protowire.Number]uint64{}, map[protowire.Number][]byte{}
	for len(message) > 0 {
		field, kind, size := protowire.ConsumeField(message)
		if size < 0 {
			break
		}
		switch value := message[protowire.SizeTag(field):size]; kind {
		case protowire.VarintType:
			numbers[field], _ = protowire.ConsumeVarint(value)
		case protowire.BytesType:
			contents[field], _ = protowire.ConsumeBytes(value)
		default:
		}
		message = message[size:]
	}
	return numbers, contents
}

// sentence is the sentence in an error as JSON, in the forms that receivers use.
func sentence(body []byte) string {
	var in map[string]any
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	for _, key := range []string{"message", "detail", "error", "error_code"} {
		switch v := in[key].(type) {
		case string:
			return v
		case map[string]any:
			if s, is := v["message"].(string); is {
				return s
			}
		}
	}
	return ""
}

// words makes one line of at most 300 characters of a text of somebody else.
func words(text string) string {
	const most = 300
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return string(runes)
}

// said is the status and the words.
func (a answer) said() string {
	if a.words == "" {
		return fmt.Sprintf("status %d", a.status)
	}
	return fmt.Sprintf("status %d: %s", a.status, a.words)
}

func (a answer) taken() bool { return a.status/100 == 2 }

// rejected is how many of n spans were not taken of a request that was.
func (a answer) rejected(n int) int { return int(min(max(a.refused, 0), int64(n))) }

// passing reports whether the same request may be taken later.
func (a answer) passing() bool {
	switch a.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// wait is the time before attempt n+1: what the receiver asks for, else 1, 2, 4 … s.
func (a answer) wait(n int) time.Duration {
	if a.retryAfter > 0 {
		return min(a.retryAfter, mostWait)
	}
	return min(time.Second<<min(n-1, 10), mostPause)
}

// judge returns an error for an answer after which no other request to this receiver can succeed.
func (s *Sender) judge(a answer) error {
	at := s.public()
	switch a.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
		return nil // the request must be divided
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the receiver at %s does not accept the key (%s): set the header that it wants, such as Authorization, to a valid one", at, a.said())
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return fmt.Errorf("at %s nothing takes spans (%s): look up the receiver's address, which mostly ends in /v1/traces", at, a.said())
	case http.StatusUnsupportedMediaType:
		return fmt.Errorf("the receiver at %s does not take %s (%s): name a receiver that does", at, mediaType, a.said())
	}
	switch {
	case a.taken() && a.page:
		return fmt.Errorf("%s answers with a page for a browser and is no receiver: look up the receiver's address, which mostly ends in /v1/traces", at)
	case a.taken():
		return nil
	case a.status/100 == 3:
		return fmt.Errorf("the receiver at %s sends the request on to %s (status %d): if that is the receiver, use its address", at, cmp.Or(a.to, "nowhere"), a.status)
	case a.status/100 == 5:
		return fmt.Errorf("the receiver at %s failed (%s): look into its log", at, a.said())
	}
	return fmt.Errorf("the receiver at %s does not take spans (%s): look up the status in its documentation", at, a.said())
}
