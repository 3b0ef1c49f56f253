// NVIDIA's own mock of libnvidia-ml, a peer of the simulated driver: see build beside this file.
module gpupool.test/mocknvml

go 1.26

require github.com/NVIDIA/k8s-test-infra v0.3.0
