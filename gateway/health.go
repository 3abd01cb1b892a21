package gateway

import (
	"net/http"
	"time"

	"github.com/tributary-dev/tributary/gateway/refusal"
)

// This file has the routes for health checks.

func (g *gateway) healthy(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

// notReady reports why the gateway cannot take prompts, or nil.
func (g *gateway) notReady() error {
	err := g.Hub.Ready()
	if g.Ready != nil && err == nil {
		err = g.Ready()
	}
	return err
}

func (g *gateway) ready(w http.ResponseWriter, _ *http.Request) error {
	if err := g.notReady(); err != nil {
		return &refusal.Error{Status: http.StatusServiceUnavailable, Code: "not_ready", Sentence: sentence(err.Error())}
	}
	// Damage of some sessions, and a missing back-up, are no reason to refuse prompts.
	answer := struct {
		Status   string        `json:"status"`
		Sessions int           `json:"damaged_sessions"`
		Backup   *BackupStatus `json:"backup,omitempty"`
	}{"ready", len(g.Hub.Damage().Sessions), nil}
	if g.Backup != nil {
		b := g.Backup()
		answer.Backup = &b
	}
	return writeJSON(w, http.StatusOK, answer)
}

// BackupStatus is how the back-ups of a gateway are doing.
type BackupStatus struct {
	// Last is when the newest back-up was begun; nil: there is none yet.
	Last *time.Time `json:"last,omitempty"`
	// FailingSince is when the first back-up failed since then.
	FailingSince *time.Time `json:"failing_since,omitempty"`
}

// measureBackups adds the metrics of back-ups.
func (g *gateway) measureBackups() {
	if g.Backup == nil {
		return
	}
	g.Meter.Gauge("tributary_backup_last_timestamp_seconds", "Unix time of the newest back-up, 0 if there is none.", func() float64 {
		if at := g.Backup().Last; at != nil {
			return float64(at.Unix())
		}
		return 0
	})
	g.Meter.Gauge("tributary_backup_failing_seconds", "Time since a back-up failed and none was written.", func() float64 {
		if at := g.Backup().FailingSince; at != nil {
			return time.Since(*at).Seconds()
		}
		return 0
	})
}
