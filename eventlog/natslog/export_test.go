package natslog

// StopStreams does to the embedded server what a full disk does in the end: it
// takes no writes any more.
func (s *Store) StopStreams() error { return s.server.ShutdownJetStream() }
