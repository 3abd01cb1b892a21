package egress_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tributary-dev/tributary/policy/egress"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		list, allowed, refused string
	}{
		{"", "", "example.com:443 127.0.0.1:80 [::1]:80"},
		{"api.example.com", "api.example.com:443 api.example.com:80", "api.example.com:22 example.com:443 x.api.example.com:443 api.example.com.evil.org:443 evilapi.example.com:443"},
		{"API.Example.com.", "api.example.com:443", ""},
		{"*.example.com", "a.example.com:443 b.a.example.com:80", "example.com:443 badexample.com:443 a.example.com:8080 .example.com:443"},
		{"*.example.com:8443", "a.example.com:8443", "a.example.com:443"},
		{"127.0.0.1:11434", "127.0.0.1:11434", "127.0.0.1:80 127.0.0.2:11434 [::1]:11434"},
		{"localhost:11434", "127.0.0.1:11434", "[::1]:11434"},
		{"[::1]:11434", "[::1]:11434", "127.0.0.1:11434"},
		{"192.0.2.7", "192.0.2.7:443", "192.0.2.8:443 192.0.2.7:22"},
		{"10.1.0.0/16", "10.1.2.3:443", "10.2.0.1:443"},
		{"10.1.0.0/16:22", "10.1.2.3:22", "10.1.2.3:443"},
		{"2001:db8::/32", "[2001:db8::1]:443", "[2001:db9::1]:443"},
		{"::ffff:192.0.2.7", "192.0.2.7:443", ""},
	} {
		var list []string
		if row.list != "" {
			list = strings.Split(row.list, " ")
		}
		h, err := egress.Parse(list)
		if err != nil {
			t.Error(row.list, err)
			continue
		}
		for _, all := range []struct {
			hosts string
			want  bool
		}{{row.allowed, true}, {row.refused, false}} {
			for host := range strings.FieldsSeq(all.hosts) {
				name, port, err := net.SplitHostPort(host)
				if err != nil {
					t.Fatal(err)
				}
				var n uint16
				_, _ = fmt.Sscan(port, &n)
				if h.Allow(egress.Target{Host: name, Port: n}) != all.want {
					t.Errorf("%q and %s: not %v", row.list, host, all.want)
				}
			}
		}
	}
	for _, wrong := range []string{"", "*", "*.", "http://example.com", "example.com/x", "a b", "example.com:0", "example.com:99999", "example.com:https", "127.0.0.1", "localhost", "127.0.0.0/8", "::1", "0.0.0.0/0", "10.1.2.3/16", "127.1", "0x7f.1", "0x7f000001", "*.*.com", "a*.com", "user@example.com", "fe80::1%eth0"} {
		if _, err := egress.Parse([]string{wrong}); err == nil || !strings.Contains(err.Error(), "write") && !strings.Contains(err.Error(), "name one") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

//evidence:for limit-egress
func TestTheNumberOfHostsIsBounded(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"h%d.example.com": egress.MaxHosts, "127.0.0.1:%d": egress.MaxLoopback} {
		var list []string
		for i := range most {
			list = append(list, fmt.Sprintf(name, i+1))
		}
		if _, err := egress.Parse(list); err != nil {
			t.Error(err)
		}
		if _, err := egress.Parse(append(list, fmt.Sprintf(name, most+1))); err == nil || !strings.Contains(err.Error(), fmt.Sprint(most)) {
			t.Errorf("%d of %s: %v", most+1, name, err)
		}
	}
}

// Connections over the bound wait, and all of them come to their end.
//
//evidence:for limit-egress
func TestTheConnectionsOfAProcessAreBounded(t *testing.T) {
	t.Parallel()
	var now, top atomic.Int64
	full := make(chan struct{})
	filled := sync.OnceFunc(func() { close(full) }) // it may be full again when some have left
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n := now.Add(1); n == egress.MaxConnections {
			filled()
		} else if n > top.Load() {
			top.Store(n)
		}
		<-full
		now.Add(-1)
	}))
	defer s.Close()
	hosts, err := egress.Parse([]string{s.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	var listeners []net.Listener
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
	}
	defer (&egress.Proxy{Hosts: hosts}).Serve(listeners)()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answers := make(chan error)
	for range egress.MaxConnections + 40 {
		go func() {
			res, err := client.Get("http://" + listeners[1].Addr().String())
			if err == nil {
				err = res.Body.Close()
			}
			answers <- err
		}()
	}
	for range egress.MaxConnections + 40 {
		if err := <-answers; err != nil {
			t.Fatal(err)
		}
	}
	if n := top.Load(); n >= egress.MaxConnections {
		t.Errorf("there were %d connections at once", n+1)
	}
}

// fixture is a Proxy for one process, with a server of the machine.
type fixture struct {
	proxy   *url.URL
	direct  string
	allowed string // HOST:PORT
	other   string // the same of a server that is not listed
	mu      sync.Mutex
	refused []string
}

func serve(t *testing.T, more []string, other func(context.Context, egress.Target) bool) *fixture {
	t.Helper()
	f := &fixture{}
	start := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	f.allowed, f.other = start(), start()
	hosts, err := egress.Parse(append(more, f.allowed))
	if err != nil {
		t.Fatal(err)
	}
	p := &egress.Proxy{Hosts: hosts, Other: other, Refused: func(to egress.Target, _ string) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.refused = append(f.refused, to.String())
	}}
	served := listen(t, p, f.allowed)
	f.proxy, f.direct = served.proxy, served.direct
	return f
}

// listen serves a Proxy; direct leads to one of its addresses.
func listen(t *testing.T, p *egress.Proxy, direct string) *fixture {
	t.Helper()
	var listeners []net.Listener
	for range 1 + len(p.Listen()) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
	}
	t.Cleanup(p.Serve(listeners))
	return &fixture{proxy: &url.URL{Scheme: "http", Host: listeners[0].Addr().String()}, direct: listeners[1+slices.Index(p.Listen(), direct)].Addr().String()}
}

// connect sends CONNECT and what follows, and returns the status and the connection.
func (f *fixture) connect(t *testing.T, to string) (string, net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", f.proxy.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", to, to)
	r := bufio.NewReader(c)
	status, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	for line := status; line != "\r\n" && err == nil; {
		line, err = r.ReadString('\n')
	}
	return strings.TrimSpace(status), c, r
}

func TestTheProxyConnectsToWhatIsListed(t *testing.T) {
	t.Parallel()
	f := serve(t, nil, nil)
	status, c, r := f.connect(t, f.allowed)
	if !strings.Contains(status, "200") {
		t.Fatal(status)
	}
	fmt.Fprint(c, "POST /tunnel HTTP/1.0\r\nContent-Length: 4\r\n\r\nbody")
	if text, err := io.ReadAll(r); err != nil || !strings.HasSuffix(string(text), "POST /tunnel body") {
		t.Errorf("%q, %v", text, err)
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(f.proxy), DisableKeepAlives: true}}
	for from, at := range map[string]string{"the proxy": "http://" + f.allowed, "the port itself": "http://" + f.direct} {
		if from != "the proxy" {
			client = http.DefaultClient
		}
		res, err := client.Post(at+"/plain", "text/plain", strings.NewReader("body"))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if text, err := io.ReadAll(res.Body); err != nil || string(text) != "POST /plain body" {
			t.Errorf("by %s: %q, %v", from, text, err)
		}
	}
}

//evidence:for promise-egress
func TestTheProxyRefusesEverythingElse(t *testing.T) {
	t.Parallel()
	f := serve(t, nil, func(context.Context, egress.Target) bool { return true })
	_, port, _ := net.SplitHostPort(f.other)
	for _, to := range []string{
		f.other, "127.0.0.1:1", "127.0.0.2:" + port, "localhost:" + port, "[::1]:" + port, "[::ffff:127.0.0.1]:" + port, "0.0.0.0:" + port, "[::]:" + port,
		"127.1:" + port, "2130706433:" + port, "0x7f.1:" + port, "169.254.169.254:80", "[fe80::1]:80", "[fe80::1%25lo]:80", "10.0.0.1:443", "192.168.1.1:80", "100.100.100.200:80",
		"[fd00:ec2::254]:80", "[64:ff9b::7f00:1]:80", "224.0.0.1:80", "localhost.:" + port, "", ":80", "a b:80", "user@127.0.0.1:" + port,
	} {
		status, _, _ := f.connect(t, to)
		if !strings.Contains(status, " 403 ") && !strings.Contains(status, " 400 ") {
			t.Errorf("CONNECT %s: %s", to, status)
		}
		if strings.HasPrefix(to, "[") || to == "" {
			continue
		}
		c, err := net.Dial("tcp", f.proxy.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", to, f.allowed) // the host of the header does not count
		if status, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(status, " 403 ") && !strings.Contains(status, " 400 ") {
			t.Errorf("GET http://%s/: %s, %v", to, status, err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.refused, f.other) || !slices.Contains(f.refused, "169.254.169.254:80") {
		t.Errorf("it tells of %q", f.refused)
	}
}

// A name that is listed, and leads to this machine or to a private network, is refused unless the address is listed, too.
func TestANameDoesNotLeadToThisMachine(t *testing.T) {
	t.Parallel()
	name := ""
	if hosts, err := os.ReadFile("/etc/hosts"); err == nil {
		for line := range strings.Lines(string(hosts)) {
			if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[0], "127.") {
				for _, n := range fields[1:] {
					if n != "localhost" {
						name = n
					}
				}
			}
		}
	}
	if host, err := os.Hostname(); name == "" && err == nil {
		name = host
	}
	if addrs, err := net.DefaultResolver.LookupHost(t.Context(), name); err != nil || len(addrs) == 0 {
		t.Skip("no name leads to this machine: ", err)
	}
	f := serve(t, []string{name + ":1"}, nil)
	if status, _, _ := f.connect(t, name+":1"); !strings.Contains(status, " 403 ") {
		t.Errorf("%s: %s", name, status)
	}
	addrs, _ := net.DefaultResolver.LookupHost(t.Context(), name)
	list := []string{name + ":1"}
	for _, addr := range addrs {
		list = append(list, net.JoinHostPort(addr, "1"))
	}
	f = serve(t, list, nil)
	if status, _, _ := f.connect(t, name+":1"); !strings.Contains(status, " 502 ") { // nothing listens there
		t.Errorf("%s with its address: %s", name, status)
	}
}

func TestAHostThatIsNotListedIsDecidedElsewhere(t *testing.T) {
	t.Parallel()
	asked := make(chan egress.Target, 1)
	f := serve(t, nil, func(_ context.Context, to egress.Target) bool {
		asked <- to
		return false
	})
	if status, _, _ := f.connect(t, "Example.COM:443"); !strings.Contains(status, "403") || (<-asked != egress.Target{Host: "example.com", Port: 443}) {
		t.Error(status)
	}
}

// The end of a process ends its connections, and waits for that.
func TestTheEndEndsTunnels(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	hosts, err := egress.Parse([]string{l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	p := &egress.Proxy{Hosts: hosts}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := p.Serve([]net.Listener{at})
	f := &fixture{proxy: &url.URL{Host: at.Addr().String()}}
	status, _, r := f.connect(t, l.Addr().String())
	if !strings.Contains(status, "200") {
		t.Fatal(status)
	}
	stop()
	if _, err := r.ReadByte(); err == nil {
		t.Error("the tunnel is open")
	}
	if _, err := net.Dial("tcp", at.Addr().String()); err == nil {
		t.Error("the proxy still listens")
	}
}
