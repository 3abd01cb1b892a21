package wire_test

import (
	"testing"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
)

func TestAChannelHasOneName(t *testing.T) {
	for _, c := range []struct {
		channel wire.Channel
		thread  string
		want    string
	}{
		{wire.Channel{}, "", ""},
		{wire.Channel{ChannelType: "web", ChannelID: "default"}, "", ""},
		{wire.Channel{ChannelType: "web", ChannelID: "x"}, "", "x"},
		{wire.Channel{ChannelID: "x"}, "", "x"},
		{wire.Channel{ChannelType: "web", ChannelID: "a:b"}, "", "web:a:b"},
		{wire.Channel{ChannelType: "slack", ChannelID: "C1:2"}, "", "slack:C1:2"},
		{wire.Channel{ChannelType: "thread", ChannelID: "t"}, "", "thread:t"},
		{wire.Channel{}, "t", "thread:t"},
	} {
		if got := c.channel.Name(c.thread); got != c.want {
			t.Errorf("%+v %q is %q, want %q", c.channel, c.thread, got, c.want)
		}
	}
}
