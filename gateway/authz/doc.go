// Package authz decides access to sessions: which role the sender of a request has in a
// session, and for how long. The people of a session, the configuration, and the servers of
// agents that know users of their own have a say in it.
//
// The package knows no routes. It returns a request whose principal has the role in the
// session, or a [refusal.Error].
package authz
