package main

import "time"

// scale is how much is measured.
type scale struct {
	rounds    int           // how often each server has its turn
	window    time.Duration // how long a load is looked at
	words     int           // of each stream at full speed
	followers int           // of one session
	idle      int           // silent streams
	idleRuns  int           // processes that have them
	others    int           // sessions in the full store
	turns     int           // of each of them
}

func full() scale {
	return scale{
		rounds: 5, window: 4 * time.Second, words: 1000, followers: 1000,
		idle: 1000, idleRuns: 3, others: 200, turns: 500,
	}
}

func quickly() scale {
	return scale{
		rounds: 1, window: 1500 * time.Millisecond, words: 300, followers: 1000,
		idle: 1000, idleRuns: 1, others: 40, turns: 100,
	}
}
