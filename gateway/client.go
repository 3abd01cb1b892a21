package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/agentops/browser"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// onlooker is a browser that looks at a session by WebSocket. The onlooker reads
// from the log, as all subscribers do, and holds no other reader up.
type onlooker struct {
	g       *gateway
	r       *http.Request // as it came, to ask again what its sender may
	id      string        // the session
	agent   string
	who     access.Principal
	socket  *socket
	screen  *browser.Translator
	follows map[string]func(cut bool) // by turn: the end of following it
	present bool                      // others are told of it; guarded by audience.mu
	watches chan struct{}             // closed when the browser watches the session
}

// client lets a browser look at a session and take part in it.
func (g *gateway) client(w http.ResponseWriter, r *http.Request) error {
	when, err := era(r)
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	admitted, info, err := g.admit(r, id, access.Viewer, g.seek(r)...)
	if err != nil {
		return err
	}
	return g.streaming(func(w http.ResponseWriter, admitted *http.Request) error {
		goodbye, err := g.limiter.follow(id)
		if err != nil {
			return err
		}
		defer goodbye()
		defer g.Sockets.enter()()
		conn, err := accept(w, r) //nolint:contextcheck // the request as it came, for what its sender may is asked again
		if err != nil {
			return nil //nolint:nilerr // it has its answer
		}
		defer conn.CloseNow() //nolint:errcheck // it is closed by then, or was of no use
		who, _ := access.From(admitted.Context())
		o := &onlooker{
			g: g, r: r.WithContext(context.WithoutCancel(r.Context())), id: id, agent: info.Agent, who: who, //nolint:contextcheck // it outlives the request
			socket: g.newSocket(conn, g.bulk(admitted, upload)), follows: map[string]func(bool){}, watches: make(chan struct{}),
			screen: browser.New(browser.Options{Session: id, Workspace: info.Agent, Era: when, AskLimit: g.Hub.AskLimit}),
		}
		o.run() //nolint:contextcheck // it outlives the request's own context
		return nil
	})(w, admitted)
}

// farewell is how a socket ends.
type farewell struct {
	code   websocket.StatusCode
	reason string
}

func (f farewell) Error() string { return f.reason }

// errPutOut is the farewell of who may look no more.
var errPutOut = farewell{websocket.StatusPolicyViolation, "this session is not yours any more"}

// run serves the browser until either side leaves.
func (o *onlooker) run() {
	ctx, cancel := context.WithCancelCause(o.r.Context())
	expiry, stop := expiring(o.r)
	defer stop()
	var tasks sync.WaitGroup
	ended := make(chan error, 1)
	task := func(do func(context.Context) error) {
		tasks.Go(func() {
			err := do(ctx)
			select {
			case ended <- err:
			default: // somebody else was first
			}
		})
	}
	task(o.socket.write)
	task(o.socket.ping)
	task(o.show)
	task(o.listen)
	task(o.stay)
	var why error
	select {
	case why = <-ended:
	case <-o.g.Hub.Done():
		why = farewell{websocket.StatusGoingAway, stoppingText}
	case <-expiry.Context().Done():
		_ = o.send(ctx, agentops.Error{Message: uistream.ErrExpired.Sentence})
		why = farewell{websocket.StatusPolicyViolation, "the token has expired"}
	}
	if bye, is := errors.AsType[farewell](why); is {
		o.socket.drained(ctx)
		_ = o.socket.conn.Close(bye.code, bye.reason) // it waits for the other side, for a moment
	}
	if errors.Is(why, errUnread) {
		o.g.Logger.Warn("socket was cut", "session", o.id, "agent", o.agent, "follower", o.who.ID, "error", why)
	}
	cancel(why)
	_ = o.socket.conn.CloseNow()
	tasks.Wait()
	_, expired := uistream.Dismissed(expiry.Context())
	for turn, leave := range o.follows {
		if expired {
			o.g.Hub.Owe(o.id, turn)
		}
		leave(!expired && !errors.Is(why, errPutOut)) // who has been sent away has not left
	}
	o.g.audience.leave(o)
}

// checkEvery is how often it is asked whether somebody may still look.
const checkEvery = 30 * time.Second

// stay asks now and then whether the browser's user may still look: a member may be one
// no more. A question that cannot be answered now is asked again.
func (o *onlooker) stay(ctx context.Context) error {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if err := o.may(access.Viewer); sentAway(err) {
			_ = o.complain(ctx, err)
			return errPutOut
		}
	}
}

// sentAway reports whether an error says that somebody may do something no more.
func sentAway(err error) bool {
	switch status, _ := statusOf(err); {
	case err == nil:
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		return true
	}
	return false
}

// show sends how the session stands, and then all that happens.
func (o *onlooker) show(ctx context.Context) error {
	watched, err := o.g.Hub.Watch(ctx, o.id)
	if err != nil {
		return o.gone(ctx, err)
	}
	close(o.watches)
	o.screen.Entitle(watched.Info.Title)
	for r, err := range watched.Past {
		if err != nil {
			return o.gone(ctx, err)
		}
		o.screen.Observe(r)
		o.attend(r)
	}
	history, err := o.history(ctx)
	if err != nil {
		return o.gone(ctx, err)
	}
	if err := o.send(ctx, o.screen.Join(o.g.audience.enter(o), history)...); err != nil {
		return err
	}
	o.g.audience.announce(o)
	for r, err := range watched.Next {
		if err != nil {
			return o.gone(ctx, err)
		}
		o.attend(r)
		if err := o.send(ctx, o.screen.Next(r)...); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return o.gone(ctx, session.ErrUnknownSession)
}

// gone tells why nothing more is to be seen.
func (o *onlooker) gone(ctx context.Context, err error) error {
	select {
	case <-o.g.Hub.Done():
		return farewell{websocket.StatusGoingAway, stoppingText}
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, session.ErrUnknownSession) { // it was deleted
		_ = o.send(ctx, agentops.Status{Data: agentops.StatusData{Status: agentops.SessionTerminated}})
		return farewell{websocket.StatusNormalClosure, "the session is no more"}
	}
	_, _, text := o.g.told(o.r, err)
	_ = o.send(ctx, agentops.Error{Message: text})
	return farewell{websocket.StatusInternalError, "the session cannot be read"}
}

// history is what February's init holds beside the turns that are not over.
func (o *onlooker) history(ctx context.Context) ([]agentops.Message, error) {
	const turns, most = 100, 1 << 20
	if o.screen.Era != agentops.Feb {
		return nil, nil
	}
	page, err := o.g.Hub.History(ctx, o.id, "", turns)
	if err != nil {
		return nil, err
	}
	load := &bulk{limiter: o.g.limiter, principal: o.who.ID, cargo: download, within: o.g.Read}
	defer load.change(0)
	if err := load.hold(int64(page.Bytes)); err != nil {
		return nil, err
	}
	return browser.Transcript(page.Records, o.screen.Options, most)
}

// attend follows a turn as long as it runs: somebody sees it. One's own prompt is
// followed as soon as it waits.
func (o *onlooker) attend(r trace.Record) {
	prompt, isPrompt := r.Payload.(trace.Prompt)
	_, isReply := r.Payload.(trace.Reply)
	_, isStop := r.Payload.(trace.Stop)
	leave, follows := o.follows[r.Turn]
	switch {
	case isStop && follows:
		leave(false)
		delete(o.follows, r.Turn)
	case follows || r.Turn == "":
	case isReply, isPrompt && prompt.By == o.who.ID:
		o.follows[r.Turn] = o.g.Hub.Attach(o.id, r.Turn)
	}
}

// send puts frames, in order.
func (o *onlooker) send(ctx context.Context, frames ...agentops.Frame) error {
	for _, f := range frames {
		data, err := agentops.Encode(f)
		if err != nil {
			return err
		}
		if err := o.socket.put(ctx, data); err != nil {
			return err
		}
	}
	return nil
}
