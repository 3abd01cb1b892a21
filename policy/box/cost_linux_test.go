package box_test

import (
	"os/exec"
	"testing"

	"github.com/tributary-dev/tributary/policy/box"
)

// BenchmarkStart starts a program and waits for its end. The package of the program that sets up the
// box is small here: test/bench has the figure of the whole gateway.
func BenchmarkStart(b *testing.B) {
	for _, form := range []box.Form{box.Off, box.Guard, box.Strict} {
		b.Run(string(form), func(b *testing.B) {
			if err := box.Available(form); err != nil {
				b.Skip(err)
			}
			rule := box.Rule{Form: form, Closed: []string{b.TempDir(), b.TempDir()}, Read: []string{"/"}}
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				if _, err := rule.Start(cmd); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
