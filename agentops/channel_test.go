package agentops_test

import (
	"testing"

	"github.com/tributary-dev/tributary/agentops"
)

func TestAChannelHasOneName(t *testing.T) {
	for _, c := range []struct {
		channel agentops.Channel
		thread  string
		want    string
	}{
		{agentops.Channel{}, "", ""},
		{agentops.Channel{ChannelType: "web", ChannelID: "default"}, "", ""},
		{agentops.Channel{ChannelType: "web", ChannelID: "x"}, "", "x"},
		{agentops.Channel{ChannelID: "x"}, "", "x"},
		{agentops.Channel{ChannelType: "web", ChannelID: "a:b"}, "", "web:a:b"},
		{agentops.Channel{ChannelType: "slack", ChannelID: "C1:2"}, "", "slack:C1:2"},
		{agentops.Channel{ChannelType: "thread", ChannelID: "t"}, "", "thread:t"},
		{agentops.Channel{}, "t", "thread:t"},
	} {
		if got := c.channel.Name(c.thread); got != c.want {
			t.Errorf("%+v %q is %q, want %q", c.channel, c.thread, got, c.want)
		}
	}
}
