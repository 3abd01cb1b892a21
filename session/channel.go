package session

import "slices"

// This file lists the channels of a session.

const (
	// mostChannels bounds the channels of a session that are known, and longestChannel
	// the name of one, in bytes: they are in its document.
	mostChannels   = 256
	longestChannel = 512
)

// addChannel notes where a prompt came from. Where there are too many channels the one that
// came first makes room.
func (i *Info) addChannel(channel string) {
	if channel == "" || len(channel) > longestChannel || slices.Contains(i.Channels, channel) {
		return
	}
	i.Channels = append(slices.Clone(i.Channels[max(0, len(i.Channels)+1-mostChannels):]), channel)
}
