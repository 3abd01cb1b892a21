package acp

// Live makes a Decoder do actions, as in a session.
func (o Options) Live() Options {
	o.do = func(action) (any, error) { return object{}, nil }
	return o
}
