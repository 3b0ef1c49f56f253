// The YAML reader of kubectl, as the measure of ours: see test/peers/yaml.bats.
module gpupool/test/peers/yaml

go 1.22

require sigs.k8s.io/yaml v1.6.0

require go.yaml.in/yaml/v2 v2.4.2 // indirect
