// Command foreign checks that the program compiles for the systems that the tests do not run on. It
// has the type checker read all sources, those of the dependencies too, which takes a tenth of the
// time of a build. What a linker would find, the build of a release finds.
//
//	go run ./test/foreign windows darwin
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := len(os.Args) < 2
	for _, system := range os.Args[1:] {
		n, err := check(system)
		if err != nil {
			fmt.Fprintf(os.Stderr, "foreign: %s: %v\n", system, err)
			failed = true
			continue
		}
		fmt.Printf("%s: %d packages\n", system, n)
	}
	if failed {
		os.Exit(1)
	}
}

// check reads the program as it is built for the system, and prints what is wrong with it. It
// returns the number of packages.
func check(system string) (int, error) {
	roots, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Env:  append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
	}, "./cmd/tributary")
	if err != nil {
		return 0, fmt.Errorf("list the packages: %w", err)
	}
	if wrong := packages.PrintErrors(roots); wrong > 0 {
		return 0, fmt.Errorf("%d errors", wrong)
	}
	n := 0
	packages.Visit(roots, nil, func(*packages.Package) { n++ })
	return n, nil
}
