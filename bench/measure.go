package main

import (
	"fmt"
	"time"
)

// What is measured, as the table of details says it.
const (
	cpuPaced      = "processor time of a frame, 100 streams × 50 words/s (µs)"
	cpuFollower   = "processor time of a frame for each of 1,000 followers (µs)"
	followLatency = "latency p99, 1,000 followers × 10 words/s (ms)"
	calmLatency   = "latency p99, 100 streams × 50 words/s, after a long turn (ms)"
	stuckLatency  = "latency p99, the same beside 100 clients that are stuck in that turn (ms)"
	idleStream    = "memory of a silent stream that follows a turn (KB)"
	idleTurn      = "memory of a silent stream with its own turn and session (KB)"
	historyFirst  = "page of 100 turns, the first of its session (ms)"
	historyLater  = "page of 100 turns, later (ms)"
	historyReady  = "start on the full store (ms)"
	logBytes      = "bytes in the log for a turn of 10,000 words (MB)"
	listPage      = "page of the full session list (ms)"
	listPage99    = "the same, p99 (ms)"
	listFar       = "the same, a page in the middle of the list (ms)"
	listCalm      = "first byte p50, new session in the store of the full session list (ms)"
	listBeside    = "first byte p50, the same beside 20 pages of that list a second (ms)"
	listOpen      = "first byte p50, the same beside 100 clients to which the list is pushed (ms)"
	listHeap      = "heap with the full session list, beyond that with 100 sessions (MB)"

	relayLatency50  = "latency p50 of an agent on another server, 100 streams of one session (ms)"
	relayLatency99  = "latency p99, the same (ms)"
	directLatency50 = "latency p50 on that server's own WebSocket (ms)"
	directLatency99 = "latency p99, the same WebSocket (ms)"
	relayHeap       = "growth of the heap in 1,000 requests in a row (MB)"
	relayRate       = "highest rate with first byte p99 < 200 ms, agent on another server (requests/s)"
	relayFirst      = "first byte p99 at that rate (ms)"
)

func latency50(streams int) string { return latency(streams, 50) }
func latency99(streams int) string { return latency(streams, 99) }

func latency(streams, p int) string {
	return fmt.Sprintf("latency p%d, %s × %d words/s, others busy (ms)", p, plural(streams), time.Second/paceFor(streams))
}

func first50(streams int) string {
	return fmt.Sprintf("first byte p50, beside %s (ms)", plural(streams))
}

func first99(streams int) string {
	return fmt.Sprintf("first byte p99, beside %s (ms)", plural(streams))
}

func next99(streams int) string {
	return fmt.Sprintf("first byte p99, later turn, beside %s (ms)", plural(streams))
}

func framesPerSecond(streams int) string {
	return fmt.Sprintf("frames per second, %s at full speed", plural(streams))
}

func cpuFull(streams int) string {
	return fmt.Sprintf("processor time of a frame, %s at full speed (µs)", plural(streams))
}

func plural(streams int) string {
	switch {
	case streams == 1:
		return "1 stream"
	case streams >= 1000:
		return fmt.Sprintf("%d,%03d streams", streams/1000, streams%1000)
	default:
		return fmt.Sprintf("%d streams", streams)
	}
}

// measures are the things in the order of the table.
func measures() []string {
	var all []string
	for _, n := range []int{1, 100, 1000} {
		all = append(all, latency50(n), latency99(n))
	}
	for _, n := range []int{1, 100, 1000} {
		all = append(all, first50(n), first99(n), next99(n))
	}
	all = append(all, calmLatency, stuckLatency)
	all = append(all, cpuPaced)
	for _, n := range []int{1, 100} {
		all = append(all, cpuFull(n), framesPerSecond(n))
	}
	all = append(all, cpuFollower, followLatency, idleStream, idleTurn, historyFirst, historyLater, historyReady)
	all = append(all, logBytes, listPage, listPage99, listFar, listCalm, listBeside, listOpen, listHeap)
	return append(all, relayLatency50, relayLatency99, directLatency50, directLatency99, relayHeap, relayRate, relayFirst)
}
