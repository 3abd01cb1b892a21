//go:build linux

package agents_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

// fasterClock is the library that gives a program a clock of another speed. Programs that are linked statically, such as
// Codex, do not load it, and keep the clock of the machine.
const fasterClock = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

// wait is a request that an agent makes, and that waits for a person.
type wait struct {
	name, mode, prompt string
	shape              string // "": agents differ too much in it
}

// waits are the requests that wait of one agent.
func waits(agent string) []wait {
	all := []wait{{name: "", prompt: "[[script:escalate touch MARK]]", shape: allowed}}
	task := func(tool, rest string) string {
		return `[[script:call ` + tool + ` {"description":"sub task","subagent_type":"general` + rest + `","run_in_background":false,"prompt":"[[script:shell touch MARK]]"}]]`
	}
	switch agent {
	case "claude":
		all = append(all,
			wait{name: " in a sub-agent", prompt: task("Task", "-purpose")},
			wait{name: " in plan mode", mode: "plan", prompt: "[[script:shell touch MARK]]"},
			wait{name: " in a sub-agent, in plan mode", mode: "plan", prompt: task("Task", "-purpose")})
	case "claude-acp":
		all = append(all, wait{name: " in a sub-agent", prompt: task("Task", "-purpose")})
	case "opencode":
		all = append(all, wait{name: " in a sub-agent", prompt: task("task", "")})
	}
	return all
}

// TestRealAgentsWaitForAnAnswer: the agents, all under one gateway, wait for the answer to a request as long as
// TRIBUTARY_TEST_HOLD says, also for requests of sub-agents and in plan mode. Then the tool runs, the turn completes, and no
// process of the agent has ended. TRIBUTARY_TEST_CLOCK is how many times faster than the machine's the clocks of
// the agents run from when all have asked: 24h and 60 take 24 minutes. TRIBUTARY_TEST_AGENTS chooses the agents, -parallel has to be at least the number
// of requests, and -timeout longer than the wait.
func TestRealAgentsWaitForAnAnswer(t *testing.T) {
	hold, err := time.ParseDuration(os.Getenv("TRIBUTARY_TEST_HOLD"))
	if err != nil {
		t.Skip("it takes as long as TRIBUTARY_TEST_HOLD says, such as 1h")
	}
	faster, clock, env := 1, filepath.Join(t.TempDir(), "clock"), map[string]string{}
	if text := os.Getenv("TRIBUTARY_TEST_CLOCK"); text != "" {
		if faster, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(fasterClock); err != nil {
			t.Fatalf("%v: `apt-get install faketime` brings it", err)
		}
		if err := os.WriteFile(clock, []byte("+0 x1\n"), 0o644); err != nil { //nolint:gosec // the agents read it
			t.Fatal(err)
		}
		env = map[string]string{"LD_PRELOAD": fasterClock, "FAKETIME_TIMESTAMP_FILE": clock, "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DISABLE_SHM": "1"}
	}
	kinds := slices.DeleteFunc(chosen(), func(k realagent.Kind) bool { return k.Package.Name == "" || k.Name == "pi" }) // it asks nobody
	b := newBench(t, kinds[0])
	agents := []realagent.Agent{b.agent}
	b.configure(func(c map[string]any) {
		of := c["agents"].(map[string]any)
		for _, k := range kinds[1:] {
			a := realagent.Get(t, k.Name)
			of[k.Name] = map[string]any{"adapter": k.Name, "command": a.Path, "env": a.Settings, "cwd": a.Dir}
			if k.Options != nil {
				maps.Copy(of[k.Name].(map[string]any), k.Options(a.Dirs))
			}
			agents = append(agents, a)
		}
		for i, a := range agents {
			all := maps.Clone(a.Settings)
			maps.Copy(all, env)
			of[kinds[i].Name].(map[string]any)["env"] = all
		}
	})
	b.start()
	var unasked sync.WaitGroup
	begin := make(chan struct{})
	t.Run("agent", func(t *testing.T) {
		for _, a := range agents {
			for i, w := range waits(a.Name) {
				t.Run(a.Name+w.name, func(t *testing.T) {
					unasked.Add(1)
					asked := sync.OnceFunc(unasked.Done)
					t.Parallel()
					defer asked()
					one := &bench{T: t, agent: a, server: b.server, session: a.Name + strconv.Itoa(i)}
					one.waits(t, w, hold/time.Duration(faster), func() { asked(); <-begin })
				})
			}
		}
		go func() {
			unasked.Wait()
			if faster != 1 {
				if err := os.WriteFile(clock, []byte("+0 x"+strconv.Itoa(faster)+"\n"), 0o644); err != nil { //nolint:gosec // as above
					t.Error(err)
				}
			}
			close(begin)
		}()
	})
	b.end()
}

// waits plays a turn whose request waits from when all have asked.
func (b *bench) waits(t *testing.T, w wait, hold time.Duration, all func()) {
	t.Helper()
	mark := filepath.Join(b.agent.Dir, "held-"+b.session)
	b.call(http.MethodPost, "/api/sessions", map[string]string{"id": b.session, "agent": b.agent.Name, "mode": w.mode})
	asked := 0
	turn, err := b.turn(strings.ReplaceAll(w.prompt, "MARK", mark), hold+3*patience, func(p trace.Payload) {
		request, ok := p.(trace.PermissionRequest)
		if !ok || request.DecidedBy != "" {
			return
		}
		if w.shape == "" && !strings.Contains(request.Title, "touch") { // the sub-agent itself
			b.answer(request, trace.AllowOnce, false)
			return
		}
		asked++
		all()
		began := time.Now()
		before := b.processes()
		fast := 0
		for _, p := range before {
			id, _, _ := strings.Cut(p, " ")
			if maps, err := os.ReadFile("/proc/" + id + "/maps"); err == nil && strings.Contains(string(maps), fasterClock) {
				fast++
				continue
			}
			t.Logf("the clock of the machine is that of %.100s", p)
		}
		time.Sleep(hold)
		if _, err := os.Stat(mark); err == nil {
			t.Error("it acted before the answer")
		}
		after := b.processes()
		for _, p := range before {
			if !slices.Contains(after, p) {
				t.Errorf("a process has ended: %s", p)
			}
		}
		b.answer(request, trace.AllowOnce, false)
		t.Logf("it has waited for %v; the faster clock is that of %d of its %d processes", time.Since(began).Round(time.Second), fast, len(before))
	})
	if err != nil {
		t.Fatal(err)
	}
	if stop, is := turn[len(turn)-1].Payload.(trace.Stop); is && stop.Outcome != trace.OutcomeCompleted {
		t.Errorf("the turn ended with %+v", stop)
	}
	if got := shapeOf(turn); w.shape != "" && got != w.shape {
		t.Errorf("the turn's shape is\n  %s\nwant\n  %s", got, w.shape)
	}
	if _, err := os.Stat(mark); err != nil || asked != 1 {
		t.Errorf("it has asked %d times, and the command that was allowed has not run: %v\n%s", asked, err, shapeOf(turn))
	}
}
