// Package egress lets the processes of an agent reach some hosts of the network only. [Hosts] are these
// hosts, and a [Proxy] of HTTP connects to them. A process that has a network of its own, by package
// policy/box, has nothing else.
//
// The proxy resolves a name and checks each address to which it then connects, so that a name cannot lead to
// this machine or to a private network, such as to the metadata of a cloud.
package egress
