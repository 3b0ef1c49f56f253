// SPDX-License-Identifier: Apache-2.0

// Reads one YAML text a line, each a JSON string; prints what sigs.k8s.io/yaml makes of it, or
// "refused". The twin in C is test/peers/yaml_texts.c.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		value, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			fmt.Fprintln(out, "refused")
		} else {
			fmt.Fprintln(out, string(value))
		}
	}
}
