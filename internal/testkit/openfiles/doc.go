// Package openfiles has the open files of a test process.
package openfiles
