// SPDX-License-Identifier: Apache-2.0

// CDI specs by the library that containerd, CRI-O and Docker read them with; the words are those of
// test/lib/cdi_tool.c.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	oci "github.com/opencontainers/runtime-spec/specs-go"
	"tags.cncf.io/container-device-interface/pkg/cdi"
	specs "tags.cncf.io/container-device-interface/specs-go"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func validate(paths []string) {
	for _, path := range paths {
		spec, err := cdi.ReadSpec(path, 0)
		if err != nil {
			fmt.Printf("%s refused %s\n", path, strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		lowest, err := specs.MinimumRequiredVersion(spec.Spec)
		must(err)
		fmt.Printf("%s valid %s\n", path, lowest)
	}
}

func cache(directories []string) *cdi.Cache {
	all, err := cdi.NewCache(cdi.WithAutoRefresh(false), cdi.WithSpecDirs(directories...))
	must(err)
	return all
}

func inject(config, directory string, names []string) {
	var spec oci.Spec
	text, err := os.ReadFile(config)
	must(err)
	must(json.Unmarshal(text, &spec))
	_, err = cache([]string{directory}).InjectDevices(&spec, names...)
	must(err)
	text, err = json.Marshal(&spec)
	must(err)
	fmt.Println(string(text))
}

func main() {
	switch word, rest := os.Args[1], os.Args[2:]; word {
	case "validate":
		validate(rest)
	case "devices":
		for _, name := range cache(rest).ListDevices() {
			fmt.Println(name)
		}
	case "inject":
		inject(rest[0], rest[1], rest[2:])
	default:
		os.Exit(2)
	}
}
