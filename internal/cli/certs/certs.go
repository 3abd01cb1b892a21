// Package certs keeps the certificate of a TLS server as its files have it: a new pair of
// files counts without a restart.
package certs

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// lookEvery is the time between two looks at the files; only handshakes look.
	lookEvery = time.Second
	// soon is how long before the end of a certificate a warning comes.
	soon = 7 * 24 * time.Hour
)

// Pair is a certificate with its key, in two PEM files.
type Pair struct {
	cert, key string
	logger    *slog.Logger

	mu     sync.Mutex
	now    *tls.Certificate
	stamp  stamp // of the files that were read last, good or bad
	looked time.Time
}

// stamp changes when one of the files does.
type stamp struct {
	certAt, keyAt     time.Time
	certSize, keySize int64
}

// Load reads a pair of files. Its errors are sentences that say what to do. A certificate
// that has expired, or soon will, is a warning in the log.
func Load(cert, key string, logger *slog.Logger) (*Pair, error) {
	p := &Pair{cert: cert, key: key, logger: logger, looked: time.Now()}
	p.stamp = p.look()
	var err error
	p.now, err = p.read()
	if err != nil {
		return nil, err
	}
	p.warn()
	return p, nil
}

func (p *Pair) look() stamp {
	var s stamp
	if info, err := os.Stat(p.cert); err == nil {
		s.certAt, s.certSize = info.ModTime(), info.Size()
	}
	if info, err := os.Stat(p.key); err == nil {
		s.keyAt, s.keySize = info.ModTime(), info.Size()
	}
	return s
}

func (p *Pair) read() (*tls.Certificate, error) {
	cert, err := readFile("certificate", "tls.cert", p.cert)
	if err != nil {
		return nil, err
	}
	key, err := readFile("key", "tls.key", p.key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	switch {
	case err == nil:
		return &pair, nil
	case strings.Contains(err.Error(), "does not match"):
		return nil, fmt.Errorf("the key in %s is not the key of the certificate in %s: name the two files of one pair, the server's own certificate first", p.key, p.cert)
	case strings.Contains(err.Error(), "PEM inputs may have been switched"), strings.Contains(err.Error(), "found a certificate rather than a key"):
		return nil, fmt.Errorf("tls.cert and tls.key are the wrong way round: the certificate is in %s, and the key in %s", p.key, p.cert)
	}
	return nil, fmt.Errorf("the files %s and %s are no certificate with its key in PEM: %s", p.cert, p.key, strings.TrimPrefix(err.Error(), "tls: "))
}

func readFile(what, setting, path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the file of the %s, %s, does not exist: correct %s", what, path, setting)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("the file of the %s, %s, cannot be read by this user: correct its permissions", what, path)
	case err != nil:
		return nil, fmt.Errorf("the file of the %s, %s, cannot be read: %w", what, path, errors.Unwrap(err))
	}
	return data, nil
}

// warn tells when the certificate ends, if that is soon.
func (p *Pair) warn() {
	end := p.now.Leaf.NotAfter
	switch left := time.Until(end); {
	case left <= 0:
		p.logger.Warn("the TLS certificate has expired, so that browsers refuse it: renew it, and the gateway reads the new files by itself", "file", p.cert, "expired", end)
	case left < soon:
		p.logger.Warn("the TLS certificate expires soon: renew it, and the gateway reads the new files by itself", "file", p.cert, "expires", end)
	case time.Now().Before(p.now.Leaf.NotBefore):
		p.logger.Warn("the TLS certificate is not valid yet: is the clock right?", "file", p.cert, "valid_from", p.now.Leaf.NotBefore)
	}
}

// Certificate returns the certificate. After a change of the files it returns the new one,
// if the new files are good; else it keeps the old one, and the log says so once.
func (p *Pair) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.looked) < lookEvery {
		return p.now, nil
	}
	p.looked = time.Now()
	s := p.look()
	if s == p.stamp {
		return p.now, nil
	}
	p.stamp = s
	pair, err := p.read()
	if err != nil {
		p.logger.Error("the new TLS files cannot be used, so the old certificate stays", "error", err)
		return p.now, nil
	}
	p.now = pair
	p.logger.Info("the new TLS certificate counts from now on", "file", p.cert, "expires", pair.Leaf.NotAfter)
	p.warn()
	return p.now, nil
}

// Config is for a server with this certificate.
func (p *Pair) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: p.Certificate}
}
