// Command in-process-agent is the program tributary with an agent of its own: a model
// behind an OpenAI-compatible URL that can call two functions of this program.
package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/tributary-dev/tributary"
	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent/toolloop"
)

func main() { tributary.Main(openai.Adapter("clerk", newShop().tools()...)) }

// shop is what the tools work on. Calls of one step run side by side.
type shop struct {
	mu     sync.Mutex
	orders map[string]string // the state of an order, by its number
}

func newShop() *shop {
	return &shop{orders: map[string]string{"A-17": "packed", "A-18": "sent"}}
}

func (s *shop) tools() []toolloop.Tool {
	return []toolloop.Tool{
		toolloop.New("order_status", "Says how far an order is.", s.status),
		toolloop.New("cancel_order", "Cancels an order that is not sent yet.", s.cancel),
	}
}

// statusInput is the input of order_status, from which the model's JSON Schema is made.
type statusInput struct {
	Order string `json:"order" jsonschema:"The number of the order, such as A-17"`
}

func (s *shop) status(_ context.Context, in statusInput) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.orders[in.Order]
	if !ok {
		return "", fmt.Errorf("there is no order %q", in.Order) // the model reads it, and can ask the user
	}
	return "The order is " + state + ".", nil
}

// cancelInput is the input of cancel_order. The model may leave out what has omitempty.
type cancelInput struct {
	Order  string `json:"order" jsonschema:"The number of the order, such as A-17"`
	Reason string `json:"reason,omitempty" jsonschema:"The customer's reason, if there is one"`
}

func (s *shop) cancel(_ context.Context, in cancelInput) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state := s.orders[in.Order]; state {
	case "":
		return "", fmt.Errorf("there is no order %q", in.Order)
	case "sent":
		return "", fmt.Errorf("order %s is sent already", in.Order)
	}
	s.orders[in.Order] = "canceled"
	return "Order " + in.Order + " is canceled.", nil
}
