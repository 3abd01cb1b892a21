//go:build linux

package egress_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/policy/egress"
)

// A host that does not answer is a 502 for the proxy, and an end for a port that is listened at itself.
//
//evidence:for limit-egress-time
func TestAHostThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	silent := full(t)
	hosts, err := egress.Parse([]string{silent})
	if err != nil {
		t.Fatal(err)
	}
	p := &egress.Proxy{Hosts: hosts}
	p.ConnectIn(100 * time.Millisecond)
	f := listen(t, p, silent)
	if status, _, _ := f.connect(t, silent); !strings.Contains(status, " 502 ") {
		t.Errorf("the proxy says %s", status)
	}
	c, err := net.Dial("tcp", f.direct)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.ReadAll(c); err != nil {
		t.Errorf("the port itself: %v", err)
	}
}

// A connection ends when no byte went in either direction for the bound, and each byte of either side puts that off.
//
//evidence:for limit-egress-time
func TestAnIdleTunnelEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		process, here := net.Pipe()
		host, there := net.Pipe()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			egress.Tunnel(t.Context(), here, there)
		}()
		for range 3 {
			for _, way := range [][2]net.Conn{{process, host}, {host, process}} {
				time.Sleep(egress.IdleAfter - time.Second)
				if _, err := way[0].Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(way[1], make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		last := time.Now()
		<-ended
		if after := time.Since(last); after != egress.IdleAfter {
			t.Errorf("it ends after %s", after)
		}
		for _, side := range []net.Conn{process, host} {
			if _, err := side.Read(make([]byte, 1)); err == nil {
				t.Error("one side is open")
			}
		}
	})
}
