package box_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

// served answers at the proxy with one word, and at the addresses of Listen with another.
type served []string

func (s served) Listen() []string { return s }

func (s served) Serve(listeners []net.Listener) (stop func()) {
	var servers []*http.Server
	for i, l := range listeners {
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, []string{"proxy", "direct"}[min(i, 1)]) })}
		servers = append(servers, server)
		go func() { _ = server.Serve(l) }()
	}
	return func() {
		for _, server := range servers {
			_ = server.Close()
		}
	}
}

// fetch is a client for shells without one.
const fetch = `fetch() { bash -c 'exec 3<>/dev/tcp/$0/$1 && printf "GET http://x/ HTTP/1.0\r\n\r\n" >&3 && tail -1 <&3' "$1" "$2" 2>&1; }; `

// A process with a network of its own reaches what its Network serves, and nothing of the machine: neither by TCP nor by UDP, nor by sockets
// without a file. Its children are in the same network.
//
//evidence:for promise-egress
func TestANetworkOfItsOwn(t *testing.T) {
	t.Parallel()
	if err := box.Available(box.Guard); err != nil {
		t.Skip(err)
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	machine := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "machine") })}
	go func() { _ = machine.Serve(tcp) }()
	all, err := net.Listen("tcp", "0.0.0.0:0") // by the addresses of the machine
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = machine.Serve(all) }()
	abstract, err := net.Listen("unix", "@tributary-box-test-"+tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = machine.Close(), abstract.Close() }) // the parallel tests below come after the end of this function
	port := func(a net.Addr) string { _, p, _ := net.SplitHostPort(a.String()); return p }
	outside, unreachable := "127.0.0.1", "Connection refused"
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if ip, is := a.(*net.IPNet); is && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			outside, unreachable = ip.IP.String(), "Network is unreachable"
		}
	}
	python := func(code string) string { return "python3 -c '" + code + "' 2>&1 | tail -1" }
	for _, row := range []struct{ name, script, want, free string }{
		{"the proxy", `fetch 127.0.0.1 "${HTTPS_PROXY##*:}"`, "proxy", "no proxy"},
		{"the proxy of a child", `sh -c 'bash -c "$1"' sh 'exec 3<>/dev/tcp/127.0.0.1/${ALL_PROXY##*:} && printf "GET / HTTP/1.0\r\n\r\n" >&3 && tail -1 <&3' 2>&1`, "proxy", ""},
		{"what is listened at", `fetch 127.0.0.1 81`, "direct", ""},
		{"a port of the machine", `fetch 127.0.0.1 ` + port(tcp.Addr()), "Connection refused", "machine"},
		{"an address of the machine", `fetch ` + outside + ` ` + port(all.Addr()), unreachable, "machine"},
		{"a raw address", `fetch 192.0.2.1 80`, "Network is unreachable", ""},
		{"UDP", python(`import socket; s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM); s.connect(("192.0.2.1",53)); print(s.send(b"x"))`), "Network is unreachable", ""},
		{"DNS", python(`import socket; print(socket.getaddrinfo("example.com", 80))`), "name resolution", ""},
		{"an abstract socket", python(`import socket; s=socket.socket(socket.AF_UNIX); s.connect("\0` + "tributary-box-test-" + tcp.Addr().String() + `"); print("connected")`), "Connection refused", "connected"},
		{"the devices", `tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "`, "lo", ""},
		{"a raw socket", python(`import socket; s=socket.socket(socket.AF_PACKET,socket.SOCK_RAW,0x0300); print([n for _,n in socket.if_nameindex()])`), "", ""},
		{"the gateway's namespace", `nsenter -t "$PPID" -n true 2>&1`, "ermi", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			run := func(rule box.Rule) string {
				var out strings.Builder
				cmd := exec.Command("bash", "-c", fetch+row.script)
				cmd.Stdout, cmd.Stderr = &out, &out
				in, err := rule.Start(cmd)
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				_ = cmd.Wait()
				return out.String()
			}
			if got := run(box.Rule{Form: box.Guard, Network: served{"127.0.0.1:81"}}); !strings.Contains(got, row.want) || strings.Contains(got, "machine") {
				t.Errorf("in a network of its own it says %q, want %q", got, row.want)
			}
			if row.free == "machine" || row.free == "connected" { // else the row above says nothing
				if got := run(box.Rule{Form: box.Guard}); !strings.Contains(got, row.free) {
					t.Errorf("without it, it says %q, want %q", got, row.free)
				}
			}
		})
	}
}

// The gateway connects to a server in the box, as often as it likes, and uses the same few sockets.
func TestTheGatewayReachesAServerInTheBox(t *testing.T) {
	t.Parallel()
	if err := box.Available(box.Guard); err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-uc", `
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"from the box")
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
print(s.server_port)
s.serve_forever()`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := box.Rule{Form: box.Guard, Network: served{}, Sockets: 2}.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }()
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: in.Dial, DisableKeepAlives: true}}
	for range 10 {
		answers := make(chan string)
		for range 4 {
			go func() {
				res, err := client.Get("http://127.0.0.1:" + strings.TrimSpace(port))
				if err != nil {
					answers <- err.Error()
					return
				}
				defer res.Body.Close()
				text, _ := io.ReadAll(res.Body)
				answers <- string(text)
			}()
		}
		for range 4 {
			if got := <-answers; got != "from the box" {
				t.Fatal(got)
			}
		}
	}
	for range 3 { // a failed connection gives its socket back
		if _, err := in.Dial(t.Context(), "tcp", "127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Fatal(err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	a, err1 := in.Dial(t.Context(), "tcp", "127.0.0.1:"+strings.TrimSpace(port))
	b, err2 := in.Dial(t.Context(), "tcp", "127.0.0.1:"+strings.TrimSpace(port))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	defer a.Close()
	defer b.Close()
	end()
	if _, err := in.Dial(ended, "tcp", "127.0.0.1:1"); err == nil {
		t.Error("a third connection was made at once with two sockets")
	}
}
