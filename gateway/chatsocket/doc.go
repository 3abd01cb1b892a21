// Package chatsocket speaks the frames of the stock client's WebSocketChatTransport. Each
// request in a frame becomes an HTTP request to the handlers of the chat routes, and their
// answer becomes frames. So both wires have the same rules.
package chatsocket
