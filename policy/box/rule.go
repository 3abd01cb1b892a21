package box

import (
	"cmp"
	"context"
	"fmt"
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

// Setting is what a configuration says of an agent's box.
type Setting struct {
	// Form is Guard if empty. Package agentset fills it in before, by what is known of the agent.
	Form Form `yaml:"form"`
	// Read and Write are further files and directories that are open. Strict needs them; Guard opens
	// only sockets by them that it closes by itself: see sockets.
	Read  []string `yaml:"read" file:"path"`
	Write []string `yaml:"write" file:"path"`
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
	// User is the user as whom the process runs, with each form; nil is the gateway's own.
	User *User `json:"user,omitempty"`
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
// does not. Start changes the command's SysProcAttr and ExtraFiles.
func (r Rule) Start(cmd *exec.Cmd) error {
	if cmd.Err != nil || !r.closes() && r.User == nil {
		return cmd.Start()
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
