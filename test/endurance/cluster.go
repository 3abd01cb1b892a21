package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

// This file has two gateways on one PostgreSQL, and what each must not do to the other.

// clusterTrials are the rows with two gateways on one database.
func (b *bench) clusterTrials(n sizes) []trial {
	each := func(do func(context.Context, string, *results) error) func(context.Context, *results) error {
		return func(ctx context.Context, t *results) error {
			for i := range n.clusters {
				if err := do(ctx, "cluster_"+strings.ToLower(rand.Text()[:10]), t); err != nil {
					return fmt.Errorf("round %d: %w", i+1, err)
				}
				t.tried(1)
			}
			return nil
		}
	}
	return []trial{
		{"beside", "a gateway starts beside a remote turn", n.clusters > 0, each(b.beside)},
		{"stale", "a session in memory that another one changes", n.clusters > 0, each(b.stale)},
		{"owners", "two owners with the same term", n.clusters > 0, each(b.owners)},
		{"upgrade", "a newer schema beside a running gateway", n.clusters > 0, each(b.upgrade)},
		{"deaths", "a gateway killed, and a prompt at another one", n.deaths > 0, func(ctx context.Context, t *results) error { return b.deaths(ctx, n.deaths, t) }},
		{"leases", "the way to PostgreSQL held beyond the lease", n.leases > 0, func(ctx context.Context, t *results) error { return b.leases(ctx, n.leases, t) }},
	}
}

// slowDemo says a word each 20 ms.
const slowDemo = "log_level: error\nagents: {demo: {options: {pace: 20ms}}}\n"

// pair starts two gateways on a new database.
func (b *bench) pair(ctx context.Context, name, config string) (first, second *gateway, err error) {
	if err := b.postgres.Make(name); err != nil {
		return nil, nil, err
	}
	if first, err = b.onURL(ctx, name, config, b.postgres.URL(name)); err != nil {
		return nil, nil, err
	}
	second, err = b.onURL(ctx, name+"-second", config, b.postgres.URL(name))
	return first, second, err
}

func (b *bench) onURL(ctx context.Context, data, config, database string) (*gateway, error) {
	return b.start(ctx, filepath.Join(b.dir, data), config, "--db", database)
}

// endAll ends gateways in order.
func endAll(all ...*gateway) error {
	for _, g := range all {
		if err := g.end(); err != nil {
			return err
		}
	}
	return nil
}

// asked sends a request and returns the status and the whole body.
func (g *gateway) asked(ctx context.Context, method, path string, body any) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	res, err := g.call(ctx, method, path, body)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	return res.StatusCode, string(all), err
}

// wants counts an answer with another status.
func (g *gateway) wants(ctx context.Context, t *results, status int, method, path string, body any) (string, error) {
	got, text, err := g.asked(ctx, method, path, body)
	if err == nil && got != status {
		t.failed("%s %s: %d, want %d: %.200s", method, path, got, status, text)
	}
	return text, err
}

// says has a prompt run to its end, and tries again while the session is elsewhere.
func (g *gateway) says(ctx context.Context, t *results, session string) error {
	for began := time.Now(); ; {
		res, err := g.prompt(ctx, session, "u"+rand.Text(), "hello")
		if err != nil {
			return err
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode == http.StatusOK {
			return nil
		}
		if res.StatusCode != http.StatusServiceUnavailable || time.Since(began) > answerWithin {
			t.failed("a prompt: %s %.200s", res.Status, body)
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// deltas reads a stream and sends the time of each delta, until the stream ends.
func deltas(res *http.Response) <-chan time.Time {
	times := make(chan time.Time, 1<<16)
	go func() {
		defer close(times)
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if bytes.Contains(lines.Bytes(), []byte(`"text-delta"`)) {
				times <- time.Now()
			}
		}
	}()
	return times
}

// someOf waits for so many deltas.
func someOf(ctx context.Context, times <-chan time.Time, n int) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	for range n {
		select {
		case _, more := <-times:
			if !more {
				return fmt.Errorf("the turn has ended too early")
			}
		case <-ctx.Done():
			return fmt.Errorf("the turn says nothing: %w", ctx.Err())
		}
	}
	return nil
}

// beside starts a second gateway while the first runs a turn of an agent on a server. The agent's
// server gets no request of the second one.
func (b *bench) beside(ctx context.Context, name string, t *results) error {
	app, err := startEndpoint(ctx)
	if err != nil {
		return err
	}
	defer app.close()
	if err := b.postgres.Make(name); err != nil {
		return err
	}
	config := fmt.Sprintf("log_level: error\nagents:\n  app:\n    adapter: uiendpoint\n    url: %s/api/chat\n    options: {resume: true, stop: true}\n", app.url())
	first, err := b.onURL(ctx, name, config, b.postgres.URL(name))
	if err != nil {
		return err
	}
	res, err := first.prompt(ctx, "r", "u1", "hello") //nolint:bodyclose // deltas closes it
	if err != nil {
		return err
	}
	times := deltas(res)
	if err := someOf(ctx, times, 5); err != nil {
		return fmt.Errorf("%w; the first gateway's log: %s", err, first.Said())
	}
	before := app.requests()
	second, err := b.onURL(ctx, name+"-second", config, b.postgres.URL(name))
	if err != nil {
		return err
	}
	if err := someOf(ctx, times, 20); err != nil { // for two seconds
		t.failed("the turn of the first gateway: %v", err)
	}
	for _, r := range app.requests()[len(before):] {
		t.failed("the agent's server gets %s while a second gateway starts", r)
	}
	if said := second.Said(); strings.Contains(said, "ERROR") {
		t.failed("the second gateway logs an error: %s", said)
	}
	_, err = second.wants(ctx, t, http.StatusServiceUnavailable, http.MethodPost, "/api/chat/r/stop", map[string]any{})
	if err == nil {
		_, err = second.wants(ctx, t, http.StatusServiceUnavailable, http.MethodGet, "/api/chat/r/stream", nil)
	}
	if err != nil {
		return err
	}
	app.finish()
	for range times { //nolint:revive // to the end
	}
	return endAll(first, second)
}

// stale has a session in the memory of both gateways. What the first one changes is there at the
// second one, and a prompt there brings nothing back.
func (b *bench) stale(ctx context.Context, name string, t *results) error {
	first, second, err := b.pair(ctx, name, quickDemo+"auth: {groups: {office: [eve]}}\n")
	if err != nil {
		return err
	}
	members := func(g *gateway) (string, error) {
		body, err := g.read(ctx, "/api/sessions/m")
		var s struct {
			Members map[string]string `json:"members"`
		}
		if err == nil {
			err = json.Unmarshal(body, &s)
		}
		return s.Members["eve"], err
	}
	if err := first.says(ctx, t, "m"); err != nil {
		return err
	}
	if _, err := first.wants(ctx, t, http.StatusOK, http.MethodPut, "/api/sessions/m/members/eve", map[string]string{"role": "collaborator"}); err != nil {
		return err
	}
	if role, err := members(second); err != nil || role != "collaborator" {
		t.failed("at the second gateway eve is %q (%v)", role, err)
	}
	if _, err := first.wants(ctx, t, http.StatusOK, http.MethodDelete, "/api/sessions/m/members/eve", nil); err != nil {
		return err
	}
	if role, err := members(second); err != nil || role != "" {
		t.failed("at the second gateway eve, who was put out, is %q (%v)", role, err)
	}
	if err := first.says(ctx, t, "m"); err != nil {
		return err
	}
	if err := first.end(); err != nil {
		return err
	}
	if err := second.says(ctx, t, "m"); err != nil {
		return err
	}
	if role, err := members(second); err != nil || role != "" {
		t.failed("after a prompt at the second gateway eve, who was put out, is %q (%v)", role, err)
	}
	p, err := second.history(ctx, "m", 100)
	if err != nil {
		return err
	}
	if len(p.times) != 6 {
		t.lost("the second gateway's history has %d of 6 messages", len(p.times))
	}
	return second.end()
}

// owners gives a session another owner with the same term, as a fail-over of the database may that
// lost a commit. The first owner writes nothing more.
func (b *bench) owners(ctx context.Context, name string, t *results) error {
	first, second, err := b.pair(ctx, name, quickDemo)
	if err != nil {
		return err
	}
	if err := first.says(ctx, t, "y"); err != nil {
		return err
	}
	before, err := first.audit(ctx, t, "y", 0)
	if err != nil {
		return err
	}
	if err := b.postgres.Run(name, `UPDATE places SET owner = 'other:1'`); err != nil {
		return err
	}
	body := map[string]any{"id": "y", "trigger": "submit-message", "messages": []any{map[string]any{"id": "u2", "role": "user", "parts": []any{map[string]string{"type": "text", "text": "hello"}}}}}
	if _, err := first.wants(ctx, t, http.StatusServiceUnavailable, http.MethodPost, "/api/chat", body); err != nil {
		return err
	}
	after, err := second.audit(ctx, t, "y", 0)
	if err != nil {
		return err
	}
	if after.last != before.last {
		t.contradicted("the former owner has written up to %d, after %d", after.last, before.last)
	}
	return endAll(first, second)
}

// upgrade starts a gateway on a schema that looks older to it while another one runs. The step between
// needs that one's end, so the start is refused, and the running gateway works on.
func (b *bench) upgrade(ctx context.Context, name string, t *results) error {
	if err := b.postgres.Make(name); err != nil {
		return err
	}
	running, err := b.onURL(ctx, name, quickDemo, b.postgres.URL(name))
	if err != nil {
		return err
	}
	if err := b.postgres.Run(name, `CREATE TABLE aside AS SELECT * FROM goose_db_version WHERE version_id > 1; DELETE FROM goose_db_version WHERE version_id > 1`); err != nil {
		return err
	}
	newer, err := b.onURL(ctx, name+"-newer", quickDemo, b.postgres.URL(name))
	switch {
	case err == nil:
		newer.kill()
		t.failed("a gateway has changed the schema under a running one")
	case !strings.Contains(err.Error(), "stop all of them first"):
		t.failed("a gateway was refused with %v", err)
	}
	if err := running.says(ctx, t, "s"); err != nil {
		return err
	}
	if _, err := running.wants(ctx, t, http.StatusOK, http.MethodGet, "/readyz", nil); err != nil {
		return err
	}
	if err := b.postgres.Run(name, `INSERT INTO goose_db_version SELECT * FROM aside`); err != nil {
		return err
	}
	if newer, err = b.onURL(ctx, name+"-newer", quickDemo, b.postgres.URL(name)); err != nil {
		return fmt.Errorf("beside a gateway of the same version: %w", err)
	}
	return endAll(running, newer)
}
