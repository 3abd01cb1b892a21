package acp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/internal/jsonrpc"
)

// peer is the connection to an agent, with or without a session.
type peer struct {
	runtime  Runtime
	settings Settings
	rpc      *jsonrpc.Conn
	hello    hello // after initialize
}

// errorf begins an error with the name of the agent.
func (p *peer) errorf(format string, args ...any) error {
	return fmt.Errorf(p.runtime.name()+": "+format, args...)
}

// explained makes a sentence of an error that the agent replied.
func (p *peer) explained(err error) error {
	e, ok := errors.AsType[jsonrpc.Error](err)
	if !ok {
		return err
	}
	problem := sentence(explain(e))
	if e.Code == codeAuth {
		problem = p.hello.login(problem)
	}
	return p.errorf("%s", problem)
}

// initialize agrees with the agent on the protocol, and logs in if the settings say how.
func (p *peer) initialize(ctx context.Context, abilities object) error {
	var said raw
	err := p.rpc.Call(ctx, methodInitialize, object{
		"protocolVersion":    1,
		"clientInfo":         object{"name": "tributary", "title": "Tributary", "version": "1"},
		"clientCapabilities": abilities,
	}, &said)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok && e.Code == jsonrpc.CodeMethodNotFound {
		return p.errorf("the program does not know the Agent Client Protocol: correct command and args")
	} else if err != nil {
		return err
	}
	p.hello = parse[hello](said)
	if v := p.hello.Version; v != 1 {
		return p.errorf("it speaks version %d of the Agent Client Protocol, and version 1 is needed: install a matching version", v)
	}
	if m := p.settings.AuthMethod; m != "" {
		return p.authenticate(ctx, m)
	}
	return nil
}

func (p *peer) authenticate(ctx context.Context, method string) error {
	if len(p.hello.AuthMethods) > 0 && !p.hello.offers(method) {
		return p.errorf("%s", p.hello.login(fmt.Sprintf("There is no method of logging in with the id %q.", method)))
	}
	err := p.rpc.Call(ctx, "authenticate", object{"methodId": method}, nil)
	if e, ok := errors.AsType[jsonrpc.Error](err); ok {
		return p.errorf("the login by %s failed: %s", method, p.hello.login(sentence(explain(e))))
	}
	return err
}

// call calls a method that may need a login. An agent that wants one gets the one for
// which its environment holds a key.
func (p *peer) call(ctx context.Context, method string, params object, result any) error {
	err := p.rpc.Call(ctx, method, params, result)
	e, ok := errors.AsType[jsonrpc.Error](err)
	if !ok || e.Code != codeAuth || p.settings.AuthMethod != "" {
		return err
	}
	for _, variable := range slices.Sorted(maps.Keys(p.runtime.Preset.Keys)) {
		id := p.runtime.Preset.Keys[variable]
		set := slices.ContainsFunc(p.runtime.Env, func(kv string) bool { return strings.HasPrefix(kv, variable+"=") })
		if set && p.hello.offers(id) {
			if err := p.authenticate(ctx, id); err != nil {
				return err
			}
			return p.rpc.Call(ctx, method, params, result)
		}
	}
	return err
}
