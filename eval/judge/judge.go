// Package judge asks a model for its opinion of a session, by OpenAI's chat completions. It is the
// [eval.Judge] of the program.
package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/eval"
	"github.com/tributary-dev/tributary/internal/address"
	"github.com/tributary-dev/tributary/internal/httpjson"
)

// Bounds of one question.
const (
	maxRequest  = 1 << 20 // bytes
	maxAnswer   = 1 << 20 // bytes
	answerLimit = 2 * time.Minute
	maxAttempts = 4
	maxWait     = time.Minute // before another attempt
)

// Config says what a Judge may use.
type Config struct {
	// Cache is the directory of known answers; empty keeps none.
	Cache string
	// Pause is the wait before the second attempt, and doubles; 1 s if zero. A server that asks for
	// another wait, of up to 1 minute, gets it.
	Pause time.Duration
	// AnswerLimit bounds the time of one attempt; 2 minutes if zero.
	AnswerLimit time.Duration
	// Getenv reads environment variables; [os.Getenv] if nil.
	Getenv func(string) string
}

// Judge asks models. It is safe for concurrent use.
type Judge struct {
	cfg   Config
	cache cache

	mu      sync.Mutex
	clients map[eval.Endpoint]*server
}

// server is an endpoint, and what is secret about it.
type server struct {
	*httpjson.Client

	path, key, url string
}

// New returns a Judge. It makes no request.
func New(cfg Config) *Judge {
	cfg.Pause = cmp.Or(cfg.Pause, time.Second)
	cfg.AnswerLimit = cmp.Or(cfg.AnswerLimit, answerLimit)
	if cfg.Getenv == nil {
		cfg.Getenv = os.Getenv
	}
	return &Judge{cfg: cfg, cache: cache{cfg.Cache}, clients: map[eval.Endpoint]*server{}}
}

// Close closes idle connections.
func (j *Judge) Close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range j.clients {
		s.Close()
	}
}

// Judge implements [eval.Judge]. Without an answer, the error says why.
func (j *Judge) Judge(ctx context.Context, q eval.JudgeQuestion) (eval.JudgeAnswer, error) {
	s, err := j.server(*q.Endpoint)
	if err != nil {
		return eval.JudgeAnswer{}, err
	}
	seen, err := json.Marshal(q.Seen)
	if err != nil {
		return eval.JudgeAnswer{}, fmt.Errorf("what the judge is to see cannot be written as JSON: %w", err)
	}
	shown := hidden(string(seen), s.key) // an agent may have printed the key
	key := cacheKey(q.Model, address.Public(s.url), q.Rubric, shown)
	if o, known := j.cache.read(key); known {
		return eval.JudgeAnswer{Score: o.Score, Reason: o.Reason, Use: eval.JudgeUse{Cached: 1}}, nil
	}
	body, err := json.Marshal(request{Model: q.Model, Messages: messages(q.Rubric, shown)})
	if err != nil {
		return eval.JudgeAnswer{}, fmt.Errorf("the question to the judge cannot be written as JSON: %w", err)
	}
	if len(body) > maxRequest {
		return eval.JudgeAnswer{}, fmt.Errorf("the judge was not asked, because the question has more than %d KB: write a shorter rubric, or judge a shorter session", maxRequest>>10)
	}
	said, err := j.ask(ctx, s, body)
	if err != nil {
		return eval.JudgeAnswer{}, fmt.Errorf("the judge %s gave no answer: %s", q.Model, hidden(err.Error(), s.key))
	}
	a := eval.JudgeAnswer{Use: said.use()}
	o, err := said.opinion()
	if err != nil {
		return a, fmt.Errorf("the judge %s %s", q.Model, hidden(err.Error(), s.key))
	}
	o.Reason = hidden(o.Reason, s.key)
	a.Score, a.Reason = o.Score, o.Reason
	j.cache.write(key, o)
	return a, nil
}

// server is the client for an endpoint.
func (j *Judge) server(e eval.Endpoint) (*server, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s := j.clients[e]; s != nil {
		return s, nil
	}
	u, err := url.Parse(e.URL)
	public := address.Public(e.URL)
	switch {
	case err != nil || u.Hostname() == "":
		return nil, fmt.Errorf("%q is no address of a judge: write one such as https://api.openai.com/v1", public)
	case u.Scheme == "http" && !e.AllowHTTP && !address.Loopback(strings.ToLower(u.Hostname())):
		return nil, fmt.Errorf("the judge %s is on another machine, and by http all machines on the way could read the session and the key: use https, or set allow_http", public)
	}
	s := &server{url: e.URL, path: "chat/completions"}
	if strings.HasSuffix(strings.TrimRight(u.Path, "/"), s.path) {
		s.path = ""
	}
	if name, is := strings.CutPrefix(e.Key, "env:"); is {
		if s.key = strings.TrimSpace(j.cfg.Getenv(name)); s.key == "" {
			return nil, fmt.Errorf("the key of the judge %s is to be in the environment variable %s, which is not set: set it", public, name)
		}
	}
	s.Client, err = httpjson.New(httpjson.Config{URL: e.URL, Bearer: s.key, Timeout: j.cfg.AnswerLimit, MaxBody: maxAnswer})
	if err != nil {
		return nil, err //nolint:wrapcheck // a sentence
	}
	j.clients[e] = s
	return s, nil
}

// ask sends a question, and again if the server has too much to do or an error of its own.
func (j *Judge) ask(ctx context.Context, s *server, body json.RawMessage) (*completion, error) {
	pause := j.cfg.Pause
	for attempt := 1; ; attempt++ {
		var out completion
		err := s.Do(ctx, httpjson.Call{Method: http.MethodPost, Path: s.path, In: body, Out: &out})
		if err == nil {
			return &out, nil
		}
		refused, is := errors.AsType[*httpjson.Error](err)
		again := is && (refused.Status == http.StatusTooManyRequests || refused.Status >= http.StatusInternalServerError)
		if !again || attempt == maxAttempts {
			return nil, err //nolint:wrapcheck // a sentence
		}
		wait := cmp.Or(refused.RetryAfter, pause)
		pause *= 2
		if wait > maxWait {
			return nil, fmt.Errorf("%w (try again in %v)", err, wait.Round(time.Second))
		}
		select {
		case <-ctx.Done():
			return nil, err //nolint:wrapcheck // a sentence
		case <-time.After(wait):
		}
	}
}

// hidden is a text without a key. A shorter key is a word of every text.
func hidden(text, key string) string {
	const shortest = 6
	if len(key) < shortest {
		return text
	}
	return strings.ReplaceAll(text, key, "…")
}
