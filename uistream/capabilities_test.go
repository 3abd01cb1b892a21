package uistream_test

import (
	"testing"
)

// Releases with the same profile accept the same chunks.
func TestAProfileIsTheSameForReleasesThatAcceptTheSame(t *testing.T) {
	t.Parallel()
	for client, want := range map[string]string{
		"": "6", "6": "6", "6.0.0": "6.0.0", "6.0.230": "6.0.0", "6.0.231": "6.0.231", "5": "5", "5.0.71": "5", "5.0.72": "5.0.72",
		"7": "7", "7.0.31": "7", "7.0.33": "7.0.32", "7.0.148": "7.0.142", "7.0.150": "7.0.149", "7.0.9999": "7.0.163", "7.2.0": "7.0.163",
	} {
		if got := profile(t, client).String(); got != want {
			t.Errorf("client %q: got %s, want %s", client, got, want)
		}
	}
}
