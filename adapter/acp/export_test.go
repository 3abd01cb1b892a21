package acp

// Live makes a Decoder do actions, as in a session whose files all hold a text.
func (o Options) Live(text string) Options {
	o.do = func(action) (any, error) { return object{}, nil }
	o.now = func(string) string { return text }
	return o
}
