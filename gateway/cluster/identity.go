package cluster

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// This file has the key of a gateway, and compares those of the others.

// identity is the key of this process and a certificate that only carries it.
type identity struct {
	certificate tls.Certificate
	key         []byte // the SHA-256 of the public key
}

func newIdentity() (identity, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("make the key of this gateway: %w", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(100, 0, 0)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return identity{}, fmt.Errorf("make the certificate of this gateway: %w", err)
	}
	parsed, err := x509.ParseCertificate(certificate)
	if err != nil {
		return identity{}, fmt.Errorf("read the certificate of this gateway: %w", err)
	}
	return identity{tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: private}, digest(parsed)}, nil
}

func digest(c *x509.Certificate) []byte {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return sum[:]
}

// errStranger refuses a connection.
var errStranger = errors.New("the other side's key is not that of a gateway on this database")

// tls is the configuration of both sides of a connection: the other side proves that it has a key
// that is known.
func (i identity) tls(known func(key []byte) bool) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{i.certificate}, ClientAuth: tls.RequireAnyClientCert,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the key itself
		NextProtos:         []string{"http/1.1"},
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !known(digest(s.PeerCertificates[0])) {
				return errStranger
			}
			return nil
		},
	}
}

// isGateway reports whether a gateway that runs has the key.
func (n *Node) isGateway(key []byte) bool {
	ctx, cancel := context.WithTimeout(context.Background(), dialWithin)
	defer cancel()
	all, err := n.store.Gateways(ctx)
	if err != nil {
		n.logger.Warn("the keys of the other gateways cannot be read", "error", err)
		return false
	}
	for _, g := range all {
		if len(g.Key) > 0 && bytes.Equal(g.Key, key) {
			return true
		}
	}
	return false
}
