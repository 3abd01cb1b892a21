module example.com/in-your-server

go 1.26

require github.com/tributary-dev/tributary v0.0.0

// In a module of your own, remove this line and require a released version.
replace github.com/tributary-dev/tributary => ../..
