package main

import (
	"fmt"
	"time"
)

// The names of the measurements in the table.
const (
	cpuPaced        = "processor time of a word, 100 streams × 50 words/s (µs)"
	cpuSubscriber   = "processor time of a word for each of 1,000 subscribers (µs)"
	sharedLatency   = "latency p99, 1,000 subscribers × 10 words/s (ms)"
	calmLatency     = "latency p99, 100 streams × 50 words/s, after a long turn (ms)"
	stuckLatency    = "latency p99, the same beside 100 clients that are stuck in that turn (ms)"
	noExportLatency = "latency p99, 50 streams × 50 words/s, beside 25 turns that end each second (ms)"
	exportLatency   = "latency p99, the same with an exporter of these turns (ms)"
	idleStream      = "memory of a silent stream of a shared turn (KB)"
	idleTurn        = "memory of a silent stream with its own turn and session (KB)"
	historyFirst    = "page of 100 turns in the full store, the first of its session (ms)"
	historyLater    = "page of 100 turns in the full store, later (ms)"
	historyReady    = "start on the full store (ms)"
	logBytes        = "bytes in the log for a turn of 10,000 words (MB)"
	listPage        = "page of the full session list (ms)"
	listPage99      = "the same, p99 (ms)"
	listFar         = "the same, a page in the middle of the list (ms)"
	listCalm        = "first byte p50, new session in the store of the full session list (ms)"
	listBeside      = "first byte p50, the same beside 20 pages of that list a second (ms)"
	listOpen        = "first byte p50, the same beside 100 clients to which the list is pushed (ms)"
	listHeap        = "heap with the full session list, beyond that with 100 sessions (MB)"

	directLatency50 = "latency p50 on another server's own WebSocket (ms)"
	directLatency99 = "latency p99, the same WebSocket (ms)"
	relayLatency50  = "latency p50 of an agent on another server, 100 streams of one session (ms)"
	relayLatency99  = "latency p99, the same (ms)"
	relayRate       = "highest rate with first byte p99 < 200 ms, agent on another server (requests/s)"
	relayFirst      = "first byte p99 at that rate (ms)"
	relayHeap       = "growth of the heap in 1,000 requests in a row to that agent (MB)"

	ownLatency50     = "latency p50 at the gateway that owns the session, 1 stream × 10 words/s (ms)"
	ownLatency99     = "latency p99, there (ms)"
	forwardLatency50 = "latency p50 at another gateway, which passes the stream on (ms)"
	forwardLatency99 = "latency p99, passed on (ms)"

	bareStart    = "turn of a program that does nothing, without a box (ms)"
	guardStart   = "the same in the box guard (ms)"
	strictStart  = "the same in the box strict (ms)"
	limitedStart = "the same in a box with egress (ms)"
	bareFiles    = "a program opens 2,000 files, without a box and without its start (ms)"
	strictFiles  = "the same in the box strict, without its start (ms)"

	crashLost = "records lost, doubled or contradicted, and turns not closed, by kills under load"
	crashGap  = "oldest text that a kill took from an open part (ms)"
	turnsLeft = "goroutines, files, processes and MB of the heap that 100,000 turns leave"
)

func latency50(streams int) string { return latency(streams, 50) }
func latency99(streams int) string { return latency(streams, 99) }

func latency(streams, p int) string {
	return fmt.Sprintf("latency p%d, %s × %d words/s, others busy (ms)", p, plural(streams), time.Second/paceFor(streams))
}

func first50(streams int) string {
	return fmt.Sprintf("first byte p50, new session, beside %s (ms)", plural(streams))
}

func first99(streams int) string {
	return fmt.Sprintf("first byte p99, new session, beside %s (ms)", plural(streams))
}

func next99(streams int) string {
	return fmt.Sprintf("first byte p99, later turn, beside %s (ms)", plural(streams))
}

func wordsPerSecond(streams int) string {
	return fmt.Sprintf("words per second, %s at full speed", plural(streams))
}

func cpuFull(streams int) string {
	return fmt.Sprintf("processor time of a word, %s at full speed (µs)", plural(streams))
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

// measure is a row of the table.
type measure struct {
	what  string
	goals []goal
}

const sixth = 1.0 / 6

// measures are the rows of the table, with what the gateway is to reach. Each goal is
// for a ratio or a difference within one run where there is a server to compare with.
func measures() []measure {
	return []measure{
		{latency50(100), []goal{over(0.1, gateway), times(1.2, unsynced)}},
		{latency99(100), []goal{over(1, gateway), over(5, gateway), times(1.2, unsynced), over(5, onPostgres)}},
		{latency50(1000), nil},
		{latency99(1000), []goal{over(2, gateway)}},
		{first50(100), []goal{times(2, raw)}},
		{first99(100), []goal{times(3, raw), just(200, " ms", gateway)}},
		{next99(100), nil},
		{first50(1000), nil},
		{first99(1000), nil},
		{next99(1000), nil},
		{cpuPaced, []goal{times(2, raw), times(0.7, peer)}},
		{cpuFull(100), []goal{times(1.5, raw), times(sixth, peer)}},
		{wordsPerSecond(100), nil},
		{cpuFull(1), nil},
		{wordsPerSecond(1), nil},
		{cpuSubscriber, []goal{times(1.2, raw)}},
		{sharedLatency, nil},
		{calmLatency, nil},
		{stuckLatency, []goal{timesThat(1.1, " × without them", calmLatency)}},
		{noExportLatency, nil},
		{exportLatency, []goal{timesThat(1.1, " × without it", noExportLatency)}},
		{idleStream, []goal{times(1.25, raw)}},
		{idleTurn, nil},
		{historyFirst, []goal{just(15, " ms", gateway), just(15, " ms", onPostgres)}},
		{historyLater, []goal{just(15, " ms", gateway), just(15, " ms", onPostgres)}},
		{historyReady, nil},
		{listPage, []goal{just(10, " ms", gateway), just(10, " ms", onPostgres)}},
		{listPage99, nil},
		{listFar, []goal{just(10, " ms", gateway), just(10, " ms", onPostgres)}},
		{listCalm, nil},
		{listBeside, []goal{timesThat(1.2, " × without them", listCalm)}},
		{listOpen, []goal{timesThat(1.2, " × without them", listCalm)}},
		{listHeap, []goal{just(2, " MB", gateway), just(2, " MB", onPostgres)}},
		{directLatency50, nil},
		{directLatency99, nil},
		{relayLatency50, nil},
		{relayLatency99, []goal{overThat(1, " ms over that WebSocket", directLatency99), overThat(5, " ms over that WebSocket", directLatency99)}},
		{relayRate, nil},
		{relayFirst, []goal{just(200, " ms", gateway)}},
		{relayHeap, []goal{just(4, " MB", gateway)}},
		{ownLatency50, nil},
		{ownLatency99, nil},
		{forwardLatency50, []goal{overThat(0.1, " ms over the owner's", ownLatency50)}},
		{forwardLatency99, []goal{overThat(1.5, " ms over the owner's", ownLatency99)}},
		{bareStart, nil},
		{guardStart, []goal{overThat(20, " ms over that without a box", bareStart)}},
		{strictStart, []goal{overThat(20, " ms over that without a box", bareStart)}},
		{limitedStart, []goal{overThat(20, " ms over that without a box", bareStart)}},
		{bareFiles, nil},
		{strictFiles, []goal{timesThat(1.2, " × without a box", bareFiles)}},
		{turnsLeft, []goal{just(0, "", gateway)}},
		{logBytes, []goal{just(0.2, " MB", gateway), just(0.2, " MB", onPostgres)}},
		{crashLost, []goal{just(0, "", gateway), just(0, "", onPostgres)}},
		{crashGap, []goal{just(250, " ms", gateway), just(250, " ms", onPostgres)}},
	}
}
