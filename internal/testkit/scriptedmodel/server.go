package scriptedmodel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// bodyLimit is the largest request that is read.
const bodyLimit = 64 << 20

// Options of a [Server]; the zero value is what most tests want.
type Options struct {
	// PlayWithoutTools plays the script for requests that offer no tools as
	// well, instead of taking them for a side call that wants a title.
	PlayWithoutTools bool
	// Observe is called with every request once its answer is chosen and
	// before it is sent, from the request's goroutine. Observe may be nil.
	Observe func(Request)
}

// Server is the model's [http.Handler].
type Server struct {
	opts  Options
	wires []wire

	mu       sync.Mutex
	requests []Request
	asked    map[string]int // how often a directive, or a place in a conversation, was due
	arrived  chan struct{}  // closed and replaced at each request
}

// A wire is one provider's API.
type wire interface {
	// route says what a request is.
	route(r *http.Request) kind
	// read parses the body of a request of kind kindAnswer.
	read(r *http.Request, body []byte) (asked, error)
	// answer sends an Answer that has no Status.
	answer(s *stage, a Answer)
	// refuse sends an error in the provider's shape.
	refuse(w http.ResponseWriter, status int, message string)
	// side answers a request of kind kindSide.
	side(w http.ResponseWriter, r *http.Request, body []byte)
}

// asked is a request for an answer, whatever the wire.
type asked struct {
	Conversation
	model  string
	stream bool
	usage  bool // a stream is to end with its usage, where a wire asks
}

type kind int

const (
	kindForeign kind = iota // some other wire's
	kindAnswer              // wants the model's next answer
	kindSide                // token counts, model lists, pings
)

// New returns a model that speaks every wire.
func New(opts Options) *Server {
	return &Server{
		opts:    opts,
		wires:   []wire{anthropic{}, chat{}, responses{}, gemini{}},
		asked:   map[string]int{},
		arrived: make(chan struct{}),
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyLimit))
	if err != nil {
		http.Error(w, "the request body could not be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	for _, wire := range s.wires {
		switch wire.route(r) {
		case kindAnswer:
			s.play(wire, w, r, body)
			return
		case kindSide:
			s.record(r, body, Request{Kind: "side"})
			wire.side(w, r, body)
			return
		case kindForeign:
		}
	}
	s.record(r, body, Request{Kind: "unknown"})
	if r.Method == http.MethodHead || r.URL.Path == "/" {
		fmt.Fprintln(w, "scripted model")
		return
	}
	http.Error(w, "the scripted model has no route "+r.URL.Path, http.StatusNotFound)
}

func (s *Server) play(wire wire, w http.ResponseWriter, r *http.Request, body []byte) {
	c, err := wire.read(r, body)
	if err != nil {
		s.record(r, body, Request{Kind: "invalid"})
		wire.refuse(w, http.StatusBadRequest, "the request is not valid: "+err.Error())
		return
	}
	req := Request{Kind: "answer"}
	if len(c.Tools) == 0 && !s.opts.PlayWithoutTools {
		req.Kind = "title"
		req.Answer = Answer{Text: TitleText}
	} else {
		req.Directive, req.Step = c.Due()
		req.Answer = Play(req.Directive, req.Step, s.count("directive", req.Directive.Name, req.Directive.Arg), c.Conversation)
	}
	place := []string{req.Kind, req.Directive.Name, req.Directive.Arg, strconv.Itoa(req.Step), strconv.Itoa(len(c.Turns))}
	s.name(&req.Answer, append(place, strconv.Itoa(s.count(place...))))
	s.record(r, body, req)
	if req.Answer.Status != 0 {
		wire.refuse(w, req.Answer.Status, fmt.Sprintf("scripted error %d", req.Answer.Status))
		return
	}
	wire.answer(&stage{w: w, r: r, asked: c, pace: req.Answer.Pace}, req.Answer)
}

// count returns how often these words have been counted, this time included.
func (s *Server) count(words ...string) int {
	key := fmt.Sprintf("%q", words)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[key]++
	return s.asked[key]
}

// name gives an answer and its calls ids that another run gives as well.
func (s *Server) name(a *Answer, place []string) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", place))
	a.ID = hex.EncodeToString(sum[:8])
	for i := range a.Calls {
		a.Calls[i].ID = fmt.Sprintf("%s_%d", a.ID, i)
	}
}

// record keeps a request and wakes the callers that wait for one.
func (s *Server) record(r *http.Request, body []byte, req Request) {
	req.Time = time.Now()
	req.Method, req.Path = r.Method, r.URL.RequestURI()
	req.Header = r.Header.Clone()
	if json.Valid(body) {
		req.Body = body
	}
	s.mu.Lock()
	req.Seq = len(s.requests) + 1
	s.requests = append(s.requests, req)
	close(s.arrived)
	s.arrived = make(chan struct{})
	s.mu.Unlock()
	if s.opts.Observe != nil {
		s.opts.Observe(req)
	}
}
