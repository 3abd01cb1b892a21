// Package atif writes a session as a trajectory in ATIF, the Agent Trajectory Interchange Format
// of Harbor (versions 1.7 and 1.8; 1.8 adds audio).
//
// The writer reads the session twice: first for what a later edit has removed and for results
// that came turns after their call, then turn by turn. The steps are written as they are made.
// Trajectories of sub-agents, which stand behind the steps, are in memory until then.
package atif

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// Options say what is written.
type Options struct {
	redact.Filter

	// Version is "1.7", which is also the meaning of "", or "1.8".
	Version string
	// Media keeps a picture or a sound of a prompt in a file, and returns its path relative to the
	// trajectory. If nil, the trajectory only says that there was one: readers refuse data URLs.
	Media func(mediaType string, data []byte) (path string, err error)
}

// ErrNothing is the error for a session of which there is nothing: ATIF wants at least one step.
var ErrNothing = errors.New("there is nothing to export: no turn of the session has ended, or nothing was said in it") //nolint:gochecknoglobals // a sentinel

// Nothing is ErrNothing, or what is ErrNothing of the only turn that was asked for.
func Nothing(turn string) error {
	if turn == "" {
		return ErrNothing
	}
	return noTurn(turn)
}

type noTurn string

func (t noTurn) Error() string {
	return fmt.Sprintf("there is nothing to export: the session has no turn %q that has ended, or nothing was said in it", string(t))
}

func (noTurn) Is(target error) bool { return target == ErrNothing } //nolint:errorlint // it is compared with the sentinel

// Check returns an error that a person can read if the version is unknown.
func (o Options) Check() error {
	switch o.Version {
	case "", "1.7", "1.8":
		return nil
	}
	return fmt.Errorf("ATIF %s cannot be written: use 1.7 or 1.8", o.Version)
}

// Write writes the session's trajectory. Each call of records reads the session from its start.
// Nothing is written before an error of the first reading, or before [ErrNothing].
func Write(w io.Writer, records func() iter.Seq2[trace.Record, error], o Options) error {
	if err := o.Check(); err != nil {
		return err
	}
	outline, err := reader.Survey(records())
	if err != nil {
		return err
	}
	p := &writer{Options: o, w: w, schema: "ATIF-v" + cmp.Or(o.Version, "1.7"), calls: map[string]bool{}}
	p.agent = redact.Agent(o.Agent.With(outline.Agent), o.Drop)
	for t, err := range reader.Turns(records(), outline) {
		if err != nil {
			return err
		}
		if !o.Has(t) {
			continue
		}
		p.sum(t)
		o.Apply(t)
		if err := p.turn(t); err != nil {
			return err
		}
	}
	if p.final.Steps.v == 0 {
		return Nothing(o.Turn)
	}
	return p.end()
}

type writer struct {
	Options

	w       io.Writer
	schema  string
	agent   trace.AgentInfo
	calls   map[string]bool // the ids that are taken
	session string
	subs    []json.RawMessage
	final   finalMetrics
	about   about
}

// sum adds the usage of a turn to that of the session, also of what is left out.
func (w *writer) sum(t *reader.Turn) {
	for _, a := range t.Actors {
		for _, st := range a.Steps {
			if m := metricsOf(st.Usage); m != nil {
				w.final.add(m)
			}
		}
	}
}

// turn writes the steps of a turn.
func (w *writer) turn(t *reader.Turn) error {
	w.session = t.Session
	if t.Removed {
		w.about.Removed++
	}
	made := &maker{writer: w, turn: t, seen: map[*reader.Actor]bool{}}
	root, err := made.trajectory(t.Main(), "")
	if err != nil {
		return err
	}
	for _, a := range t.Actors[1:] {
		if made.seen[a] {
			continue // it is with its call
		}
		sub, err := made.trajectory(a, made.id(a))
		if err != nil {
			return err
		}
		if len(sub.Steps) > 0 {
			root.Subagents = append(root.Subagents, sub)
		}
	}
	made.ended(root)
	for _, s := range root.Subagents {
		encoded, err := encode(s)
		if err != nil {
			return err
		}
		w.subs = append(w.subs, encoded)
	}
	for _, s := range root.Steps {
		if err := w.step(s); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) step(s *step) error {
	before := ",\n"
	if w.final.Steps.v == 0 {
		head := trajectory{SchemaVersion: w.schema, SessionID: w.session, Agent: w.agentOf(w.agent)}
		encoded, err := encode(head)
		if err != nil {
			return err
		}
		before = string(bytes.TrimSuffix(encoded, []byte("null}"))) + "[\n" // the steps are the last field
	}
	w.final.Steps.v++
	s.StepID = w.final.Steps
	encoded, err := encode(s)
	if err != nil {
		return err
	}
	return w.put(before, string(encoded))
}

// end writes what stands behind the steps.
func (w *writer) end() error {
	if err := w.put("\n]"); err != nil {
		return err
	}
	w.about.LeftOut = w.leftOut()
	rest := struct {
		Subs  []json.RawMessage `json:"subagent_trajectories,omitempty"`
		Final finalMetrics      `json:"final_metrics"`
		Extra own[about]        `json:"extra,omitzero"`
	}{w.subs, w.final, own[about]{w.about}}
	encoded, err := encode(rest)
	if err != nil {
		return err
	}
	return w.put(",\n", string(encoded[1:]), "\n")
}

// leftOut names what the caller wanted to be left out.
func (o Options) leftOut() (all []string) {
	for _, c := range o.Drop {
		all = append(all, string(c))
	}
	for _, one := range []struct {
		name string
		out  bool
	}{{"other turns", o.Turn != ""}, {"denied calls", o.NoDenied}, {"sub-agents", o.NoSubagents}} {
		if one.out {
			all = append(all, one.name)
		}
	}
	return all
}

func (w *writer) put(texts ...string) error {
	for _, text := range texts {
		if _, err := io.WriteString(w.w, text); err != nil {
			return fmt.Errorf("write a trajectory: %w", err)
		}
	}
	return nil
}

// agentOf is the agent in the form of ATIF. The version is required.
func (w *writer) agentOf(a trace.AgentInfo) agent {
	out := agent{Name: cmp.Or(a.Name, a.Product, a.Adapter, "unknown"), Version: cmp.Or(a.Version, "unknown"), ModelName: a.Model}
	for _, t := range a.Tools {
		out.Tools = append(out.Tools, tool{"function", function{t.Name, t.Description, t.InputSchema}})
	}
	out.Extra = texts("adapter", a.Adapter, "product", a.Product, "provider", a.Provider)
	return out
}
