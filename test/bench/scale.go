package main

import "time"

// scale is how much is measured.
type scale struct {
	rounds      int           // how often each server has its turn
	loads       []int         // how many streams there are at once
	window      time.Duration // how long a load is looked at
	words       int           // of each of a hundred streams at full speed
	turns       int           // of 10,000 words each, of one stream at full speed
	subscribers int           // of one session
	idle        int           // silent streams
	idleRuns    int           // processes that have them
	stored      int           // sessions in the full store
	history     int           // turns of each of them
	logged      int           // turns of 10,000 words whose bytes in the log are counted
	listed      int           // sessions in the list
	kills       int           // of gateways under load, for each engine
	left        int           // turns before their remains are counted
}

func full() scale {
	return scale{
		rounds: 3, loads: []int{100, 1000}, window: 2 * time.Second, words: 2000, turns: 5,
		subscribers: 1000, idle: 1000, idleRuns: 2, stored: 200, history: 500,
		logged: 3, listed: 100_000, kills: 40, left: 100_000,
	}
}

func quickly() scale {
	return scale{
		rounds: 1, loads: []int{100}, window: 1500 * time.Millisecond, words: 1000, turns: 2,
		subscribers: 1000, idle: 1000, idleRuns: 1, stored: 40, history: 100,
		logged: 1, listed: 10_000, kills: 6, left: 1000,
	}
}
