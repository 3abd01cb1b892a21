package access

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-jose/go-jose/v4"
)

const (
	maxKeys     = 100     // of a set
	maxKeySet   = 1 << 20 // bytes
	leastRSA    = 2048    // bits
	leastSecret = 32      // bytes
)

// key is a key and what it may have signed: the kind of the key decides the
// algorithm, never the token.
type key struct {
	id       string
	verifies any
	algs     []jose.SignatureAlgorithm
}

// algorithms lists all that are understood.
func algorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.HS256, jose.HS384, jose.HS512, jose.RS256, jose.RS384, jose.RS512,
		jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	}
}

// newKey says what a public key, or a secret, may have signed.
func newKey(id string, verifies any) (key, error) {
	k := key{id: id, verifies: verifies}
	switch v := verifies.(type) {
	case *rsa.PublicKey:
		if v.N.BitLen() < leastRSA {
			return k, fmt.Errorf("it is an RSA key of %d bits; use one of at least %d", v.N.BitLen(), leastRSA)
		}
		k.algs = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}
	case *ecdsa.PublicKey:
		switch v.Curve {
		case elliptic.P256():
			k.algs = []jose.SignatureAlgorithm{jose.ES256}
		case elliptic.P384():
			k.algs = []jose.SignatureAlgorithm{jose.ES384}
		case elliptic.P521():
			k.algs = []jose.SignatureAlgorithm{jose.ES512}
		default:
			return k, errors.New("its curve is not P-256, P-384 or P-521")
		}
	case ed25519.PublicKey:
		k.algs = []jose.SignatureAlgorithm{jose.EdDSA}
	case []byte:
		for bytes, alg := range map[int]jose.SignatureAlgorithm{leastSecret: jose.HS256, 48: jose.HS384, 64: jose.HS512} {
			if len(v) >= bytes {
				k.algs = append(k.algs, alg)
			}
		}
		if k.algs == nil {
			return k, fmt.Errorf("it is a secret of %d bytes; use one of at least %d", len(v), leastSecret)
		}
	default:
		return k, errors.New("it is no public key of RSA, of an elliptic curve, or of Ed25519")
	}
	return k, nil
}

// readJWK reads one JSON Web Key. A secret counts only where nobody else can read it.
func readJWK(data []byte, secrets bool) (key, error) {
	var j jose.JSONWebKey
	if err := json.Unmarshal(data, &j); err != nil {
		return key{}, errors.New("it is not a JSON Web Key that is understood")
	}
	if j.Use != "" && j.Use != "sig" {
		return key{}, errors.New("its use is not to sign")
	}
	if _, secret := j.Key.([]byte); secret && !secrets {
		return key{}, errors.New("it is a secret, and everybody can read it")
	}
	if _, secret := j.Key.([]byte); !secret && !j.IsPublic() {
		return key{}, errors.New("it is a private key; give the public one")
	}
	k, err := newKey(j.KeyID, j.Key)
	if err == nil && j.Algorithm != "" {
		alg := jose.SignatureAlgorithm(j.Algorithm)
		if !slices.Contains(k.algs, alg) {
			return k, fmt.Errorf("its algorithm %s does not fit its kind", quote(j.Algorithm))
		}
		k.algs = []jose.SignatureAlgorithm{alg}
	}
	return k, err
}

// readJWKSet reads the usable keys of a set; other keys in it may be for other readers. If no
// key is usable, why says why.
func readJWKSet(data []byte, secrets bool) (keys []key, why error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, errors.New("it is not a JSON Web Key set")
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("it holds %d keys, and %d are the most that are read", len(set.Keys), maxKeys)
	}
	why = errors.New("it holds no key")
	for _, raw := range set.Keys {
		k, err := readJWK(raw, secrets)
		if err != nil {
			why = fmt.Errorf("it holds no key that can be used; of the last one: %w", err)
			continue
		}
		keys = append(keys, k)
	}
	if len(keys) > 0 {
		return keys, nil
	}
	return nil, why
}

// readPEM reads public keys and certificates.
func readPEM(data []byte) (keys []key, err error) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		var public any
		switch {
		case block.Type == "PUBLIC KEY":
			public, err = x509.ParsePKIXPublicKey(block.Bytes)
		case block.Type == "RSA PUBLIC KEY":
			public, err = x509.ParsePKCS1PublicKey(block.Bytes)
		case block.Type == "CERTIFICATE":
			var cert *x509.Certificate
			if cert, err = x509.ParseCertificate(block.Bytes); err == nil {
				public = cert.PublicKey
			}
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return nil, errors.New("it holds a private key; give the public one")
		default:
			return nil, fmt.Errorf("it holds a %s, which is no public key", quote(block.Type))
		}
		if err != nil {
			return nil, errors.New("the key in it cannot be read")
		}
		k, err := newKey("", public)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, errors.New("it holds no key: write it as PEM, as a JSON Web Key or as a set of them")
	}
	return keys, nil
}

// fixedKeys are those that were given at start.
type fixedKeys []key

// find implements keySource. A fixed set needs no fetch.
func (f fixedKeys) find(_ context.Context, id string, alg jose.SignatureAlgorithm) ([]key, error) {
	return matching(f, id, alg), nil
}

// matching are the keys that may have signed with the algorithm: those of that id, and
// those that have none.
func matching(keys []key, id string, alg jose.SignatureAlgorithm) []key {
	var all []key
	for _, k := range keys {
		if (k.id == id || k.id == "" || id == "") && slices.Contains(k.algs, alg) {
			all = append(all, k)
		}
	}
	return all
}

// loadKeys reads the keys that a file or the environment holds.
func loadKeys(c JWT, algs []jose.SignatureAlgorithm) (keySource, error) {
	data, where, err := held(c.KeyFile+c.SecretFile, c.KeyEnv+c.SecretEnv)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(data))
	looksPublic := strings.HasPrefix(text, "{") || strings.Contains(text, "-----BEGIN")
	var keys []key
	switch {
	case c.SecretFile != "" || c.SecretEnv != "":
		var k key
		if looksPublic { // whoever knows a public key could sign with it
			err = errors.New("it holds a key, not a secret; name it as key_file or key_env")
		} else {
			k, err = newKey("", []byte(text))
		}
		keys = []key{k}
	case strings.HasPrefix(text, "{") && strings.Contains(text, `"keys"`):
		keys, err = readJWKSet([]byte(text), true)
	case strings.HasPrefix(text, "{"):
		var k key
		k, err = readJWK([]byte(text), true)
		keys = []key{k}
	default:
		keys, err = readPEM([]byte(text))
	}
	if err != nil {
		return nil, fmt.Errorf("the key in %s cannot be used: %w", where, err)
	}
	if !usable(keys, algs) {
		return nil, fmt.Errorf("the key in %s fits none of the algorithms %s", where, words(algs))
	}
	return fixedKeys(keys), nil
}

// usable reports whether any of the keys may sign with any of the algorithms.
func usable(keys []key, algs []jose.SignatureAlgorithm) bool {
	return slices.ContainsFunc(keys, func(k key) bool {
		return slices.ContainsFunc(k.algs, func(a jose.SignatureAlgorithm) bool { return slices.Contains(algs, a) })
	})
}

// held reads what a file or an environment variable holds, and says where that is.
func held(file, env string) (data []byte, where string, err error) {
	if env != "" {
		if text := os.Getenv(env); text != "" {
			return []byte(text), "the environment variable " + env, nil
		}
		return nil, "", fmt.Errorf("the environment variable %s, which is to hold a key, is not set", env)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, "", fmt.Errorf("key file cannot be read: %w", err)
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, maxKeySet+1))
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("key file cannot be read: %w", err)
	case len(data) > maxKeySet:
		return nil, "", fmt.Errorf("key file %s is larger than %d MB; is it the right one?", file, maxKeySet>>20)
	}
	return data, file, nil
}

// words lists texts.
func words[T ~string](all []T) string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}
