// Package chatrun keeps the newest chunks of responses, so that a client whose connection
// was cut reads on at the chunk that the client lacks. The stock client's
// WorkflowChatTransport counts the chunks that arrive, and asks for the rest by their count.
package chatrun
