package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session"
)

const (
	// foundFor is how long what a directory said is believed; who was refused may try
	// again sooner.
	foundFor, refusedFor = 5 * time.Second, 2 * time.Second
	// findWithin bounds one question to a directory.
	findWithin = 10 * time.Second
	// mostAsking bounds the questions that are under way, and mostFindings what is
	// remembered of their answers.
	mostAsking, mostFindings = 32, 4096
)

// findings remembers for a moment what a directory said of tokens and sessions, so that
// a page with its few requests costs one question. It holds no token.
type findings struct {
	mu     sync.Mutex
	of     map[visitor]*finding
	asking chan struct{}
}

// visitor is a token, by its hash, at a session.
type visitor struct {
	token   [sha256.Size]byte
	session string
}

// finding is what was said, once done is closed.
type finding struct {
	done  chan struct{}
	until time.Time // guarded by findings.mu; zero while the question is under way
	found agent.Found
	err   error
}

func newFindings() *findings {
	return &findings{of: map[visitor]*finding{}, asking: make(chan struct{}, mostAsking)}
}

// find asks the directory, unless that was done just now.
func (f *findings) find(ctx context.Context, d agent.Directory, guest access.Guest, id string) (agent.Found, error) {
	key := visitor{guest.Digest(), id}
	f.mu.Lock()
	one := f.of[key]
	if one == nil || !one.until.IsZero() && time.Now().After(one.until) {
		if len(f.of) >= mostFindings && !f.forget() {
			f.mu.Unlock()
			return agent.Found{}, &tooMuch{"too_many_lookups", "Too many sessions are being looked up: try again in a moment.", laterWait}
		}
		one = &finding{done: make(chan struct{})}
		f.of[key] = one
		f.mu.Unlock()
		// Others wait for the answer too, so it comes also if this one leaves.
		f.ask(context.WithoutCancel(ctx), d, guest, id, one)
	} else {
		f.mu.Unlock()
	}
	select {
	case <-one.done:
		return one.found, one.err
	case <-ctx.Done():
		return agent.Found{}, ctx.Err()
	}
}

func (f *findings) ask(ctx context.Context, d agent.Directory, guest access.Guest, id string, one *finding) {
	ctx, cancel := context.WithTimeout(ctx, findWithin)
	defer cancel()
	select {
	case f.asking <- struct{}{}:
		one.found, one.err = d.Find(ctx, id, agent.Caller{Bearer: guest.Bearer()})
		<-f.asking
	case <-ctx.Done():
		one.err = errors.New("it has too many questions to answer")
	}
	keep := time.Duration(0)
	switch {
	case one.err == nil:
		keep = foundFor
	case errors.Is(one.err, agent.ErrUnauthorized), errors.Is(one.err, agent.ErrNoSession):
		keep = refusedFor
	}
	f.mu.Lock()
	one.until = time.Now().Add(keep)
	f.mu.Unlock()
	close(one.done)
}

// forget drops what is too old to count, and reports whether that made room. The
// caller holds f.mu.
func (f *findings) forget() bool {
	now := time.Now()
	for key, one := range f.of {
		if !one.until.IsZero() && now.After(one.until) {
			delete(f.of, key)
		}
	}
	return len(f.of) < mostFindings
}

// visit finds out who a guest is in a session that lives elsewhere: the directory of its
// agent says so. A session that is known there, and not here, is made.
func (g *gateway) visit(ctx context.Context, guest access.Guest, id string) (access.Principal, session.Info, error) {
	if err := session.CheckID(id); err != nil {
		return access.Principal{}, session.Info{}, err
	}
	directory, is := g.Hub.Directory(g.PassThrough)
	info, _, _, err := g.Hub.Get(ctx, id)
	unknown := errors.Is(err, session.ErrUnknownSession)
	switch {
	case err != nil && !unknown:
		return access.Principal{}, info, err
	case !is:
		return access.Principal{}, info, errNoSessionThere
	}
	found, err := g.findings.find(ctx, directory, guest, id)
	switch {
	case err != nil:
		return access.Principal{}, info, g.notFound(ctx, guest, id, err)
	case !unknown && info.Agent != g.PassThrough: // asked all the same: nobody is to learn that it is here
		return access.Principal{}, info, errNoSessionThere
	}
	role, err := access.ParseRole(found.Role)
	if err != nil {
		return access.Principal{}, info, g.notFound(ctx, guest, id, err)
	}
	p := guest.Known(g.PassThrough, found.By, role)
	if unknown {
		spec := session.Spec{ID: id, Agent: g.PassThrough, Title: found.Title}
		if role == access.Owner {
			spec.By = p.ID
		}
		if info, err = g.Hub.Ensure(ctx, spec); err == nil && info.Agent != g.PassThrough { // made by somebody else meanwhile
			err = errNoSessionThere
		}
	}
	return p, info, err
}

var errNoSessionThere = &refusal{http.StatusNotFound, "unknown_session", "There is no such session."} //nolint:gochecknoglobals // a constant in all but name

// notFound is what a guest is told when a directory has not found his session.
func (g *gateway) notFound(ctx context.Context, guest access.Guest, id string, err error) error {
	switch {
	case errors.Is(err, agent.ErrUnauthorized):
		return &refusal{http.StatusUnauthorized, "token_wrong", "The token is not valid here: sign in again, or check the header Authorization."}
	case errors.Is(err, agent.ErrNoSession):
		return errNoSessionThere
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if much, is := errors.AsType[*tooMuch](err); is {
		return much
	}
	why := strings.ReplaceAll(err.Error(), guest.Bearer(), "[token]") // whoever wrote it may have put it there
	g.Logger.Warn("a session could not be looked up", "agent", g.PassThrough, "session", id, "error", why)
	return &refusal{
		http.StatusBadGateway, "lookup_failed",
		fmt.Sprintf("The server of the agent %s could not be asked for this session: try again in a moment.", g.PassThrough),
	}
}

// bearer is the sender's own token, for an agent whose server knows it and nobody here.
func (g *gateway) bearer(ctx context.Context, agentName string) string {
	guest, is := access.GuestOf(ctx)
	if _, lives := g.Hub.Directory(agentName); !is || !lives || agentName != g.PassThrough {
		return ""
	}
	return guest.Bearer()
}
