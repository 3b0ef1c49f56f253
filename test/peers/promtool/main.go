// SPDX-License-Identifier: Apache-2.0

// promcheck reads a page of metrics from standard input as Prometheus' own `promtool check metrics` does (its parser and
// its linter are these packages): exit status 1 when it cannot be read, 3 when the linter has an opinion about a name.
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func main() {
	problems, err := promlint.New(os.Stdin).Lint()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error while linting:", err)
		os.Exit(1)
	}
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem.Metric, problem.Text)
	}
	if len(problems) > 0 {
		os.Exit(3)
	}
}
