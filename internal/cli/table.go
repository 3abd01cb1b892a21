package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table prints rows in columns.
type table struct{ *tabwriter.Writer }

// newTable prints the head of a table, if there are columns.
func newTable(out io.Writer, columns ...string) table {
	t := table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	if len(columns) > 0 {
		t.row(columns...)
	}
	return t
}

func (t table) row(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }
