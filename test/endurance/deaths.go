package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// judgesAfter is from when on a gateway judges others: it has reached the database itself for a lease.
	judgesAfter = 16 * time.Second
	// takenWithin is how long it may take from the death of a gateway to a prompt that another one accepts.
	takenWithin = 6 * time.Second
)

// deaths kills a gateway while it runs two turns, again and again, and measures the time until another one on the same PostgreSQL
// takes a prompt. That one was passing streams of both turns on: the turn of a program ends there, and that of an agent on a
// server goes on, each word once.
func (b *bench) deaths(ctx context.Context, times int, t *results) error {
	const name = "deaths"
	app, err := startEndpoint(ctx)
	if err != nil {
		return err
	}
	defer func() { app.close() }()
	config := func() string {
		return fmt.Sprintf("log_level: error\ndefault_agent: demo\ncluster: {listen: '127.0.0.1:0'}\nagents:\n  demo: {options: {pace: 20ms}}\n  app:\n    adapter: uiendpoint\n    url: %s/api/chat\n    options: {resume: true, stop: true}\n", app.url())
	}
	first, second, err := b.pair(ctx, name, config())
	if err != nil {
		return err
	}
	if err := pause(ctx, judgesAfter); err != nil {
		return err
	}
	var all []time.Duration
	for i := range times {
		if i > 0 {
			if first, err = b.onURL(ctx, fmt.Sprint(name, i), config(), b.postgres.URL(name)); err != nil {
				return err
			}
		}
		session, remote := fmt.Sprint("s", i), fmt.Sprint("r", i)
		var shown [2]<-chan time.Time
		var passed [2]<-chan string
		for j, prompt := range []struct{ agent, session, text string }{{"demo", session, "long 4000"}, {"app", remote, "hello"}} {
			res, err := first.promptTo(ctx, prompt.agent, prompt.session, "u1", prompt.text) //nolint:bodyclose // deltas closes it
			if err != nil {
				return err
			}
			shown[j] = deltas(res)
			if passed[j], err = second.stream(ctx, prompt.session); err != nil {
				return err
			}
			if err := someOf(ctx, shown[j], 5); err != nil {
				return err
			}
		}
		killed := time.Now()
		first.kill()
		accepted, err := second.accepts(ctx, t, session)
		if err != nil {
			return err
		}
		took := accepted.Sub(killed)
		if all = append(all, took); took > takenWithin {
			t.failed("%s after the death of its gateway another one takes a prompt; %s are allowed", took.Round(time.Millisecond), takenWithin)
		}
		for _, all := range shown {
			for range all { //nolint:revive // to the end
			}
		}
		stream := <-passed[0]
		if words := strings.Fields(summaryOf([]byte(stream)).text); !strings.HasSuffix(stream, "data: [DONE]\n\n") || failureOf([]byte(stream)) == "" || !repeating(words, 19) {
			t.failed("the stream of a turn that its gateway took along: %q", tail(stream))
		}
		if err := pause(ctx, time.Second); err != nil { // so that the other turn has words of its next owner
			return err
		}
		app.finish()
		stream = <-passed[1]
		words := strings.Fields(summaryOf([]byte(stream)).text)
		for n, word := range words {
			if word != fmt.Sprint(n) {
				t.failed("the stream of a turn that goes on says %q in the place of %d", word, n)
				break
			}
		}
		if !strings.HasSuffix(stream, "data: [DONE]\n\n") || failureOf([]byte(stream)) != "" || len(words) < 20 {
			t.failed("the stream of a turn that goes on has %d words: %q", len(words), tail(stream))
		}
		page, err := second.history(ctx, session, 100)
		if err != nil {
			return err
		}
		if len(page.times) != 4 {
			t.lost("the history has %d of 4 messages", len(page.times))
		}
		t.tried(1)
	}
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100].Round(time.Millisecond) }
	progress("from kill -9 to a prompt that another gateway accepts: half within %s, 99 %% within %s, all within %s, of %d", at(50), at(99), at(100), len(all))
	return second.end()
}

// stream resumes a session, and gives the whole stream when it has ended.
func (g *gateway) stream(ctx context.Context, session string) (<-chan string, error) {
	res, err := g.call(ctx, http.MethodGet, "/api/chat/"+session+"/stream", nil) //nolint:bodyclose // it is closed below
	if err != nil {
		return nil, err
	}
	all := make(chan string, 1)
	go func() {
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			text = fmt.Append(text, " was cut: ", err)
		}
		all <- string(text)
	}()
	return all, nil
}

// repeating reports whether each word is the one that stands n words before it.
func repeating(words []string, n int) bool {
	for i := n; i < len(words); i++ {
		if words[i] != words[i-n] {
			return false
		}
	}
	return true
}

// accepts tries a prompt until the gateway takes it, and returns when that was. The answer is read to its end.
func (g *gateway) accepts(ctx context.Context, t *results, session string) (at time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	for {
		res, err := g.prompt(ctx, session, "u"+rand.Text(), "hello")
		if err != nil {
			return time.Time{}, err
		}
		at = time.Now()
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return at, nil
		}
		if res.StatusCode != http.StatusServiceUnavailable {
			t.failed("a prompt: %s %.200s", res.Status, body)
			return at, nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return at, err
		}
	}
}
