package certs_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tributary-dev/tributary/internal/cli/certs"
	"github.com/tributary-dev/tributary/internal/cli/certs/certtest"
)

// files are a pair on the disk.
type files struct{ cert, key string }

func newFiles(t *testing.T) files {
	t.Helper()
	dir := t.TempDir()
	return files{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// write puts a pair in place. Each pair is of another time, as files of a later day are.
func (f files) write(t *testing.T, cert, key []byte, at time.Time) {
	t.Helper()
	for path, content := range map[string][]byte{f.cert: cert, f.key: key} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

func serial(t *testing.T, p *certs.Pair) string {
	t.Helper()
	c, err := p.Certificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Leaf.SerialNumber.String()
}

func TestNewFilesCountWithoutARestartAndBadOnesDoNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		ca := certtest.New(t)
		f := newFiles(t)
		begin := time.Now()
		cert, key := ca.Issue(t, begin.Add(90*24*time.Hour), "localhost")
		f.write(t, cert, key, begin)
		p, err := certs.Load(f.cert, f.key, slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		first := serial(t, p)
		if log.Len() > 0 {
			t.Errorf("a good pair warns: %s", &log)
		}

		other, _ := ca.Issue(t, begin.Add(90*24*time.Hour), "localhost")
		f.write(t, other, key, begin.Add(time.Minute))
		time.Sleep(2 * time.Second)
		for range 3 {
			if serial(t, p) != first {
				t.Error("a certificate with another key took effect")
			}
			time.Sleep(2 * time.Second)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 || !strings.Contains(log.String(), "the old certificate stays") {
			t.Errorf("the log has %d lines, want one sentence: %s", n, &log)
		}

		cert, key = ca.Issue(t, begin.Add(24*time.Hour), "localhost")
		f.write(t, cert, key, begin.Add(2*time.Minute))
		time.Sleep(2 * time.Second)
		if serial(t, p) == first {
			t.Error("the new pair does not count")
		}
		if !strings.Contains(log.String(), "expires soon") {
			t.Errorf("nothing warns of a certificate that ends tomorrow: %s", &log)
		}

		if err := os.Remove(f.key); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		second := serial(t, p)
		time.Sleep(2 * time.Second)
		if serial(t, p) != second || strings.Count(log.String(), "does not exist") != 1 {
			t.Errorf("after the key was removed: %s", &log)
		}
	})
}

func TestWhatIsWrongWithAPairIsOneSentence(t *testing.T) {
	t.Parallel()
	ca := certtest.New(t)
	end := time.Now().Add(90 * 24 * time.Hour)
	cert, key := ca.Issue(t, end, "localhost")
	_, otherKey := ca.Issue(t, end, "localhost")
	for _, c := range []struct {
		name      string
		cert, key []byte
		want      string
	}{
		{"no certificate", nil, key, "does not exist: correct tls.cert"},
		{"no key", cert, nil, "does not exist: correct tls.key"},
		{"another's key", cert, otherKey, "is not the key of the certificate"},
		{"the wrong way round", key, cert, "the wrong way round"},
		{"an empty certificate", []byte{}, key, "are no certificate with its key in PEM"},
		{"a broken key", cert, key[:60], "are no certificate with its key in PEM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFiles(t)
			for path, content := range map[string][]byte{f.cert: c.cert, f.key: c.key} {
				if content == nil {
					continue
				}
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := certs.Load(f.cert, f.key, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want a sentence with %q", err, c.want)
			}
		})
	}
}

func TestAnExpiredCertificateIsAWarning(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	f := newFiles(t)
	cert, key := certtest.New(t).Issue(t, time.Now().Add(-time.Hour), "localhost")
	f.write(t, cert, key, time.Now())
	p, err := certs.Load(f.cert, f.key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil || !strings.Contains(log.String(), "has expired") {
		t.Fatalf("%v, log %s", err, &log)
	}
	if p.Config().MinVersion != tls.VersionTLS12 {
		t.Error("older versions of TLS than 1.2 are taken")
	}
}
