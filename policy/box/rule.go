package box

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os/exec"
)

// Form says how much a box closes.
type Form string

// The forms.
const (
	// Guard closes the files that a Rule names.
	Guard Form = "guard"
	// Strict closes them too, and opens nothing else than what a Rule names.
	Strict Form = "strict"
	// Off is no box.
	Off Form = "off"
)

// network is not a form: by it Available tries a network.
const network Form = "network"

// NetworkAvailable reports why a process cannot have a network of its own here, or nil. The first call tries it.
func NetworkAvailable() error { return Available(network) }

// Setting is what a configuration says of an agent's box.
type Setting struct {
	// Form is Guard if empty. Package agentset fills it in before, by what is known of the agent.
	Form Form `yaml:"form"`
	// Read and Write are further files and directories that are open. Strict needs them; Guard opens
	// only sockets by them that it closes by itself: see sockets.
	Read  []string `yaml:"read" file:"path"`
	Write []string `yaml:"write" file:"path"`
	// Files are those of Rule. No setting names them.
	Files []string
	// Required refuses an agent whose box cannot be had. Else the agent gets the next weaker one.
	Required bool `yaml:"required"`
}

// Rule is the box of one process. The zero Rule is no box. Paths are absolute. A symbolic link
// stands for its target.
type Rule struct {
	Form Form `json:"form"`
	// Closed are files and directories that the process must not reach. Those that do not exist when the
	// process starts are left out.
	Closed []string `json:"closed"`
	// Open are directories that stay open though they are below a closed one.
	Open []string `json:"open,omitempty"`
	// Read and Write are open in Strict, beside what every program of the system needs. A path that ends
	// in / is a directory that is made if it is not there.
	Read  []string `json:"read,omitempty"`
	Write []string `json:"write,omitempty"`
	// Files are empty files that are made in Strict where they are missing.
	Files []string `json:"files,omitempty"`
	// Temp is a directory that the process finds at /tmp in Strict, with what is open below /tmp in its place. It is
	// empty, and the caller removes it. "" is one in memory, for this process alone. If /tmp itself is open, it is as outside.
	Temp string `json:"temp,omitempty"`
	// User is the user as whom the process runs, with each form; nil is the gateway's own.
	User *User `json:"user,omitempty"`
	// Network is all that the process reaches of the network. It gets a network of its own, in which nothing
	// else is. Nil is the network of the gateway.
	Network Network `json:"-"`
	// Sockets is how many connections the gateway may have at once to servers of the process, by
	// Inside.Dial. It counts only with a Network.
	Sockets int `json:"sockets,omitempty"`
}

// Network serves the processes that have a network of their own.
type Network interface {
	// Listen are the addresses of the loopback device in the box at which it answers, beside the proxy.
	Listen() []string
	// Serve serves the listeners of a process, of which the first is a proxy for HTTP and the others are those of Listen.
	// It returns at once. stop ends all that and waits for it.
	Serve(listeners []net.Listener) (stop func())
}

// Settled finds the form that can be had here: that of the setting, or the strongest weaker one.
// The reason says why it is a weaker one, in a sentence without a stop; else it is "". If the setting
// requires its form, the reason is the error.
func (s Setting) Settled() (form Form, reason string, err error) {
	form = cmp.Or(s.Form, Guard)
	for form != Off {
		why := Available(form)
		if why == nil {
			break
		}
		reason = cmp.Or(reason, why.Error())
		if form == Strict {
			form = Guard
		} else {
			form = Off
		}
	}
	if s.Required && reason != "" {
		return Off, "", fmt.Errorf("the box %s is required, and this machine does not give it: %s. Correct that, or write required: false", cmp.Or(s.Form, Guard), reason)
	}
	return form, reason, nil
}

// Start starts a command in the box and as its user, and returns when its program runs there, or with why it
// does not. Start changes the command's SysProcAttr and ExtraFiles. The caller closes the Inside when the program
// has ended.
func (r Rule) Start(cmd *exec.Cmd) (*Inside, error) {
	if cmd.Err == nil && !r.closes() && r.Network != nil {
		return nil, fmt.Errorf("%s has a network of its own, which needs a box", cmd.Path)
	}
	if cmd.Err != nil || !r.closes() && r.User == nil {
		return nil, cmd.Start()
	}
	return r.start(cmd, cmd.Path, "")
}

// closes says whether there is a box, beside the user.
func (r Rule) closes() bool { return r.Form != "" && r.Form != Off }

type contextKey struct{}

// With returns a context that carries a Rule to the programs that are started for the calls with the
// context, such as the one that asks an agent for its version.
func With(ctx context.Context, r Rule) context.Context {
	return context.WithValue(ctx, contextKey{}, r)
}

// Of returns the Rule that a context carries; without one, no box.
func Of(ctx context.Context) Rule {
	r, _ := ctx.Value(contextKey{}).(Rule)
	return r
}
