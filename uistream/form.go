package uistream

// This file has the marks that tell a client who runs a call.

// Form is how the chunks of a call are marked. The zero Form is that of the adapters: the
// agent runs the call (providerExecuted), and the app does not know the tool by name
// (dynamic). An upstream of this protocol has forms of its own, and they pass through.
type Form struct {
	// Static says that the app knows the tool by its name: the part is tool-NAME.
	Static bool
	// Unmarked says that the call is not marked as the agent's own: the app may run it.
	Unmarked bool
}

// clientForm is the form of a call that the client answers.
func clientForm() Form { return Form{Static: true, Unmarked: true} }

// flags marks a call that the agent itself runs. A client that is not told so
// would run it, and post the conversation again once the call has its output.
func flags(dst []byte, f Form) []byte {
	return appendBool(appendBool(dst, "providerExecuted", !f.Unmarked), "dynamic", !f.Static)
}
