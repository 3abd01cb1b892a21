// Package access decides who may do what: it stands in front of every handler
// of the gateway and lets a request through only when three questions have
// been answered.
//
//  1. Host: is this a name we answer to? A page whose DNS name was re-bound to
//     our address carries its own name here, and is refused.
//  2. Origin: which page sent it? Our own origin and the allowed ones pass;
//     everything else is refused, whatever the method, and "null" always.
//  3. Who: a bearer token, or the cookie that a token was exchanged for.
//
// A bearer token cannot be sent by a page that does not know it, so it is good
// from every allowed origin. The cookie, and in mode none the mere ability to
// reach the port, are lent to any page the user visits: they are good only for
// requests that are shown to be our own, by Origin or by Sec-Fetch-Site. This
// is what refuses the POSTs that need no CORS preflight (text/plain, forms).
//
// A [Guard] keeps no state between requests and is safe for concurrent use.
// Handlers behind it find the caller with [From] and ask [Role.Allows].
package access
