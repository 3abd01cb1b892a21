// Package logtest is the suite that every eventlog.Store passes.
//
//	func TestStore(t *testing.T) {
//		logtest.Run(t, func(t *testing.T) eventlog.Store { return memlog.New() })
//	}
//
// Each test opens a store of its own, so they run side by side.
package logtest
