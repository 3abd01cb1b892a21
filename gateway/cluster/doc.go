// Package cluster passes requests on to the gateway that has their session. Several gateways share
// a database, and each session has one gateway that writes it, its owner. A gateway that gets a
// request for a session of another one passes the request on, and the answer back.
//
// Gateways talk with one another by TLS 1.3 on a listener of its own. At its start each makes a key,
// and puts the key's digest and its address into the database. Both sides of a connection compare
// the other's key with the database. Who can write to the database can write every record already,
// so this trusts nobody new.
//
// The gateway that a client asks says who the client is. The owner decides what they may do.
package cluster
