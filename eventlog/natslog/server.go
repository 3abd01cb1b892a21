package natslog

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startServer runs a server in this process that listens nowhere.
func startServer(o Options) (*server.Server, error) {
	s, err := server.NewServer(serverOptions(o))
	if err != nil {
		return nil, fmt.Errorf("set up the embedded NATS server in %s: %w", o.Dir, err)
	}
	s.SetLoggerV2(serverLog{o.Logger.With("from", "nats-server")}, false, false, false)
	s.Start()
	if !s.ReadyForConnections(startTimeout) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("the embedded NATS server in %s did not start: see its messages in the log; is the disk full, or the directory not writable?", o.Dir)
	}
	return s, nil
}

func serverOptions(o Options) *server.Options {
	opts := &server.Options{
		ServerName: o.Name,
		DontListen: true,
		JetStream:  true,
		StoreDir:   filepath.Join(o.Dir, "nats"),
		MaxPayload: int32(min(o.MaxPayload, 64<<20)), //nolint:gosec // bounded just here
		NoSigs:     true,
		SyncAlways: o.Fsync == Always,
	}
	if o.Fsync > 0 {
		opts.SyncInterval = o.Fsync
	} else {
		opts.SyncInterval = time.Minute
	}
	return opts
}

// serverLog hands the server's messages to slog.
type serverLog struct{ to *slog.Logger }

func (l serverLog) Noticef(f string, v ...any) { l.to.Debug(fmt.Sprintf(f, v...)) }
func (l serverLog) Debugf(f string, v ...any)  { l.to.Debug(fmt.Sprintf(f, v...)) }
func (l serverLog) Tracef(f string, v ...any)  { l.to.Debug(fmt.Sprintf(f, v...)) }
func (l serverLog) Warnf(f string, v ...any)   { l.to.Warn(fmt.Sprintf(f, v...)) }
func (l serverLog) Errorf(f string, v ...any)  { l.to.Warn(fmt.Sprintf(f, v...)) }
func (l serverLog) Fatalf(f string, v ...any)  { l.to.Error(fmt.Sprintf(f, v...)) }
