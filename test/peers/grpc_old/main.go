// SPDX-License-Identifier: Apache-2.0

// grpc-go before it encoded socket paths: its :authority is the path, with its slashes. See test/peers/grpc.bats.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
)

type raw struct{}

func (raw) Marshal(v interface{}) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v interface{}) error {
	*v.(*[]byte) = append([]byte{}, data...)
	return nil
}
func (raw) Name() string { return "proto" }

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	connection, err := grpc.DialContext(ctx, "unix:"+os.Args[1], grpc.WithInsecure(), grpc.WithBlock(), grpc.FailOnNonTempDialError(true))
	var answer []byte
	if err == nil {
		message := []byte("hello")
		err = connection.Invoke(ctx, "/test.Test/Echo", &message, &answer, grpc.ForceCodec(raw{}))
	}
	if err != nil || string(answer) != "hello" {
		fmt.Printf("not ok old grpc-go: %v %q\n", err, answer)
		os.Exit(1)
	}
	fmt.Println("ok old grpc-go", grpc.Version)
}
