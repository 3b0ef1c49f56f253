// SPDX-License-Identifier: Apache-2.0

// Is a CustomResourceDefinition one that the API server takes, and are objects ones that it takes
// for it? With the API server's own code: crd CRD.yaml [OBJECT.json...]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crd "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	object "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"sigs.k8s.io/yaml"
)

func must(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func read(path string) []byte {
	text, err := os.ReadFile(path)
	must(err)
	return text
}

func definition(path string) *apiextensions.CustomResourceDefinition {
	var outer v1.CustomResourceDefinition
	var inner apiextensions.CustomResourceDefinition
	must(yaml.UnmarshalStrict(read(path), &outer))
	v1.SetDefaults_CustomResourceDefinition(&outer)
	v1.SetDefaults_CustomResourceDefinitionSpec(&outer.Spec)
	must(v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&outer, &inner, nil))
	if list := crd.ValidateCustomResourceDefinition(context.Background(), &inner); len(list) > 0 {
		must(list.ToAggregate())
	}
	return &inner
}

func main() {
	found := definition(os.Args[1])
	rules := found.Spec.Validation
	if rules == nil {
		rules = found.Spec.Versions[0].Schema
	}
	validator, _, err := object.NewSchemaValidator(rules.OpenAPIV3Schema)
	must(err)
	structure, err := schema.NewStructural(rules.OpenAPIV3Schema)
	must(err)
	for _, path := range os.Args[2:] {
		var value map[string]interface{}
		must(json.Unmarshal(read(path), &value))
		if list := object.ValidateCustomResource(nil, value, validator); len(list) > 0 {
			must(list.ToAggregate())
		}
		options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
		if unknown := pruning.PruneWithOptions(value, structure, true, options); len(unknown) > 0 {
			must(fmt.Errorf("%s: fields that would be dropped: %v", path, unknown))
		}
	}
	fmt.Println("valid")
}
