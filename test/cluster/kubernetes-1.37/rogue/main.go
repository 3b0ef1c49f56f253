// SPDX-License-Identifier: Apache-2.0

// A device plugin that does as it is told: a rival for ours, and the control of the tests' own eyes.
//
//	rogue -resource nvidia.com/gpu -devices id=/dev/nvidia0,id=/dev/nvidia1 [-swap | -extra]
//
// It registers once and serves until it is killed. -swap: a container gets the node of the device after its own.
// -extra: it gets the next one too.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

type plugin struct {
	api.UnimplementedDevicePluginServer
	ids, nodes        []string
	swap, extra, numa bool
}

func (p *plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (p *plugin) ListAndWatch(_ *api.Empty, stream grpc.ServerStreamingServer[api.ListAndWatchResponse]) error {
	answer := &api.ListAndWatchResponse{}
	for _, id := range p.ids {
		device := &api.Device{ID: id, Health: api.Healthy}
		if p.numa {
			device.Topology = &api.TopologyInfo{Nodes: []*api.NUMANode{{ID: 0}}}
		}
		answer.Devices = append(answer.Devices, device)
	}
	log.Printf("ListAndWatch %d", len(p.ids))
	defer log.Print("Ended")
	if err := stream.Send(answer); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (p *plugin) given(id string) []string {
	for i, own := range p.ids {
		next := p.nodes[(i+1)%len(p.nodes)]
		switch {
		case own != id:
		case p.swap:
			return []string{next}
		case p.extra:
			return []string{p.nodes[i], next}
		default:
			return []string{p.nodes[i]}
		}
	}
	return nil
}

func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	log.Print("Allocate ", request)
	for _, container := range request.ContainerRequests {
		one := &api.ContainerAllocateResponse{}
		for _, id := range container.DevicesIds {
			for _, node := range p.given(id) {
				one.Devices = append(one.Devices, &api.DeviceSpec{ContainerPath: node, HostPath: node, Permissions: "rw"})
			}
		}
		answer.ContainerResponses = append(answer.ContainerResponses, one)
	}
	return answer, nil
}

func (p *plugin) register(resource, endpoint string) error {
	connection, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: endpoint, ResourceName: resource})
	return err
}

func main() {
	p := &plugin{}
	resource := flag.String("resource", "nvidia.com/gpu", "what to register")
	endpoint := flag.String("socket", "rogue.sock", "the name of its socket")
	devices := flag.String("devices", "", "id=node,...")
	flag.BoolVar(&p.swap, "swap", false, "give the node of the next device")
	flag.BoolVar(&p.extra, "extra", false, "give the node of the next device too")
	flag.BoolVar(&p.numa, "numa", false, "say that each device is near NUMA node 0")
	flag.Parse()
	for _, pair := range strings.Split(*devices, ",") {
		id, node, _ := strings.Cut(pair, "=")
		p.ids, p.nodes = append(p.ids, id), append(p.nodes, node)
	}
	path := filepath.Join(api.DevicePluginPath, *endpoint)
	os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, p)
	go func() {
		if err := p.register(*resource, *endpoint); err != nil {
			log.Fatal(err)
		}
		log.Print("Registered")
	}()
	log.Fatal(server.Serve(listener))
}
