package chatbody

import "encoding/json"

// This file writes a request that was read for the gateway that has its session.

// forwarded is a Request in JSON. What a client may not say has names of its own.
type forwarded struct {
	plain
	Answered     []forwardedMessage
	AnsweredSize int
	Ran          bool
}

type plain Request

type forwardedMessage struct {
	ID    string
	Parts []forwardedAnswer
	Size  int
}

type forwardedAnswer struct {
	Answer
	Failed bool
}

// MarshalJSON implements json.Marshaler. UnmarshalJSON reads the same Request.
func (req Request) MarshalJSON() ([]byte, error) {
	f := forwarded{plain: plain(req), AnsweredSize: req.answersSize, Ran: req.ran}
	for _, m := range req.answers {
		to := forwardedMessage{ID: m.id, Size: m.size}
		for _, a := range m.parts {
			to.Parts = append(to.Parts, forwardedAnswer{a, a.failed})
		}
		f.Answered = append(f.Answered, to)
	}
	return json.Marshal(f) //nolint:wrapcheck // of our own types
}

// UnmarshalJSON implements json.Unmarshaler, for what MarshalJSON has written. A client's body is for Read.
func (req *Request) UnmarshalJSON(data []byte) error {
	var f forwarded
	if err := json.Unmarshal(data, &f); err != nil {
		return err //nolint:wrapcheck // the caller knows whose it is
	}
	*req = Request(f.plain)
	req.answersSize, req.ran, req.Input = f.AnsweredSize, f.Ran, orNil(req.Input)
	for _, m := range f.Answered {
		from := answeredMessage{id: m.ID, size: m.Size}
		for _, a := range m.Parts {
			a.failed, a.Choice.Input = a.Failed, orNil(a.Choice.Input)
			from.parts = append(from.parts, a.Answer)
		}
		req.answers = append(req.answers, from)
	}
	return nil
}

// orNil makes nil of null: a Request has no other.
func orNil(input json.RawMessage) json.RawMessage {
	if string(input) == "null" {
		return nil
	}
	return input
}
