// Package access decides who may do what: it stands in front of every handler
// of the gateway and lets a request through only when three questions have
// been answered.
//
//  1. Host: is this a name we answer to? A page whose DNS name was re-bound to
//     our address carries its own name here, and is refused.
//  2. Origin: which page sent it? Our own origin and the allowed ones pass;
//     everything else is refused, whatever the method, and "null" always.
//  3. Principal: a bearer token, or the cookie that a token was exchanged for.
//
// A page cannot send a bearer token that it does not know, so the token is good from every
// allowed origin. The browser sends the cookie for any page that the user visits, and in
// mode none every page can reach the port. So both count only in requests of our own pages,
// by Origin or by Sec-Fetch-Site. This rule refuses the POSTs that need no CORS preflight
// (text/plain, forms).
//
// A [Guard] keeps no state between requests and is safe for concurrent use.
// Handlers behind it find the caller with [From] and ask [Role.Allows].
package access
