package procio_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/internal/procio"
)

// asGateway has the test's program be a gateway with one agent.
const asGateway = "PROCIO_TEST_GATEWAY"

// beGateway starts an agent that says nothing, and never ends by itself. The thread of the goroutine
// that calls Start ends, and so do many others.
func beGateway() {
	runtime.LockOSThread() // the main thread never ends, so no other goroutine may use it
	pid := make(chan int)
	go func() {
		runtime.LockOSThread() // and never unlocks: the thread ends with the goroutine
		p, err := procio.Start(procio.Config{Path: "sleep", Args: []string{"600"}})
		if err != nil {
			panic(err)
		}
		pid <- p.Pid()
	}()
	agent := <-pid
	var all sync.WaitGroup
	for range 50 {
		all.Go(runtime.LockOSThread)
	}
	all.Wait()
	fmt.Println(agent)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func TestAnAgentDiesWithItsGatewayAndNotWithAThread(t *testing.T) {
	t.Parallel()
	gateway := exec.CommandContext(t.Context(), os.Args[0])
	gateway.Env = append(os.Environ(), asGateway+"=1")
	in, err := gateway.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := gateway.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gateway.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	agent, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if !alive(agent) {
			t.Fatal("the agent has ended before its gateway")
		}
	}
	if err := gateway.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = gateway.Wait()
	gone(t, agent)
}
