// Package limit bounds what one client can take from the gateway: requests, streams,
// memory and time.
package limit
