// Command openid is an OpenID provider for tests: the example of github.com/zitadel/oidc, on
// a free port of loopback. It prints its issuer as its first line, and ends with its
// standard input. Its users are test-user@127.0.0.1 and test-user2, with the password
// verysecure; its clients are web (secret: secret) and native (no secret, PKCE).
//
//	openid REDIRECT_URI
package main

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "openid:", err)
		os.Exit(1)
	}
}

func run(redirects []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	issuer := "http://" + l.Addr().String()
	storage.RegisterClients(storage.NativeClient("native", redirects...), storage.WebClient("web", "secret", redirects...))
	users := storage.NewUserStore(issuer)
	handler := exampleop.SetupServer(issuer, storage.NewStorage(users), slog.New(slog.NewTextHandler(os.Stderr, nil)), false)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Println(issuer)
	if err := server.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
