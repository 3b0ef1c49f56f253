// SPDX-License-Identifier: Apache-2.0

// grpc-go as the peer of src/wire: see test/peers/grpc.bats.
//
//	peer client SOCKET           calls our server (grpc_tool server): one line a case
//	peer server SOCKET           the same methods, for our client, until standard input ends
//	peer plain SOCKET            the same, with grpc-go's own settings
//	peer slow SOCKET             opens a stream and never reads it, until the server ends the connection
//	peer bridge SOCKET           a TCP port on the loopback that leads to the socket; prints it
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A message is its bytes.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }
func (raw) Name() string                       { return "proto" }

const service = "/test.Test/"

var failed bool

func check(name string, wrong error) {
	if wrong != nil {
		failed = true
		fmt.Printf("not ok %s: %v\n", name, wrong)
		return
	}
	fmt.Printf("ok %s\n", name)
}

func dial(target string, options ...grpc.DialOption) *grpc.ClientConn {
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(64<<20), grpc.MaxCallSendMsgSize(64<<20)),
	}, options...)
	connection, err := grpc.NewClient(target, options...)
	if err != nil {
		fmt.Println("not ok dial:", err)
		os.Exit(1)
	}
	return connection
}

func call(connection *grpc.ClientConn, method string, message []byte, options ...grpc.CallOption) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var answer []byte
	err := connection.Invoke(ctx, service+method, &message, &answer, options...)
	return answer, err
}

func echo(connection *grpc.ClientConn, size int) error {
	message := bytes.Repeat([]byte("gpupool "), size/8+1)[:size]
	answer, err := call(connection, "Echo", message)
	if err == nil && !bytes.Equal(message, answer) {
		err = fmt.Errorf("%d bytes came back as %d others", size, len(answer))
	}
	return err
}

func wants(err error, code codes.Code, text string) error {
	got := status.Convert(err)
	if got.Code() != code || !strings.Contains(got.Message(), text) {
		return fmt.Errorf("%v %q instead of %v %q", got.Code(), got.Message(), code, text)
	}
	return nil
}

func stream(ctx context.Context, connection *grpc.ClientConn, method string, messages ...[]byte) (grpc.ClientStream, error) {
	s, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, service+method)
	for i := 0; err == nil && i < len(messages); i++ {
		err = s.SendMsg(&messages[i])
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = s.CloseSend()
	}
	return s, err
}

func count(connection *grpc.ClientConn, most int) error {
	s, err := stream(context.Background(), connection, "Count", []byte{byte(most)})
	for i := 0; err == nil; i++ {
		var answer []byte
		err = s.RecvMsg(&answer)
		if errors.Is(err, io.EOF) && i == most {
			return nil
		}
		if err == nil && (len(answer) != 1 || int(answer[0]) != i) {
			err = fmt.Errorf("message %d is %v", i, answer)
		}
	}
	return err
}

func cancelled(connection *grpc.ClientConn) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := stream(ctx, connection, "Keep", []byte("x"))
	if err != nil {
		return err
	}
	time.AfterFunc(50*time.Millisecond, cancel)
	var answer []byte
	return wants(s.RecvMsg(&answer), codes.Canceled, "")
}

func deadline(connection *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(context.Background(), 80*time.Millisecond)
	defer cancel()
	message, answer := []byte("x"), []byte{}
	return wants(connection.Invoke(ctx, service+"Keep", &message, &answer), codes.DeadlineExceeded, "")
}

func parallel(connection *grpc.ClientConn, calls int) error {
	var wait sync.WaitGroup
	var wrong atomic.Value
	for i := range calls {
		wait.Add(1)
		go func() {
			defer wait.Done()
			if err := echo(connection, i*37%100000); err != nil {
				wrong.Store(err)
			}
		}()
	}
	wait.Wait()
	if err := wrong.Load(); err != nil {
		return err.(error)
	}
	return nil
}

func two(connection *grpc.ClientConn, messages ...[]byte) error {
	s, err := stream(context.Background(), connection, "Echo", messages...)
	if err != nil {
		return err
	}
	var answer []byte
	return wants(s.RecvMsg(&answer), codes.Unimplemented, "methods here take one")
}

func headers(connection *grpc.ClientConn) error {
	ctx := metadata.AppendToOutgoingContext(context.Background(), "x", strings.Repeat("a", 12000), "y-bin", "\x00\xff\x80")
	message, answer := []byte("x"), []byte{}
	if err := connection.Invoke(ctx, service+"Echo", &message, &answer); err != nil {
		return err
	}
	ctx = metadata.AppendToOutgoingContext(ctx, "z", strings.Repeat("a", 12000))
	err := connection.Invoke(ctx, service+"Echo", &message, &answer)
	if err == nil {
		return errors.New("24 KB of headers were taken")
	}
	return echo(connection, 1)
}

func failures(connection *grpc.ClientConn) error {
	texts := []string{"", "plain", "100 % sure: \"café\"\n\t世界 %41", strings.Repeat("long ", 200)}
	for code := codes.Code(1); code <= codes.Unauthenticated; code++ {
		text := texts[int(code)%len(texts)]
		_, err := call(connection, "Fail", append([]byte{byte(code)}, text...))
		if err := wants(err, code, text); err != nil {
			return err
		}
	}
	return nil
}

// An idle connection stays, also with pings: the kubelet's view of a plugin hangs on it.
func idle(connection *grpc.ClientConn) error {
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if state := connection.GetState(); state != connectivity.Ready {
			return fmt.Errorf("the connection is %v", state)
		}
	}
	return echo(connection, 10)
}

func client(socket string) {
	connection := dial("unix:"+socket, grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, PermitWithoutStream: true}))
	for _, size := range []int{0, 1, 16383, 16384, 16385, 65535, 65536, 1 << 20, 4 << 20} {
		check("echo of "+strconv.Itoa(size), echo(connection, size))
	}
	check("too long a message", wants(echo(connection, 4<<20+1), codes.ResourceExhausted, "has 4194305 bytes; the limit is 4194304"))
	check("the connection lives on", echo(connection, 1))
	check("stream", count(connection, 200))
	check("empty stream", count(connection, 0))
	check("failures and their texts", failures(connection))
	_, err := call(connection, "Nothing", nil)
	check("unknown method", wants(err, codes.Unimplemented, "'/test.Test/Nothing'"))
	_, err = call(connection, "Echo", []byte("x"), grpc.UseCompressor(gzip.Name))
	check("compression", wants(err, codes.Unimplemented, "gzip"))
	check("two messages", two(connection, []byte("a"), []byte("b")))
	check("no message", two(connection))
	check("cancel", cancelled(connection))
	check("deadline", deadline(connection))
	check("headers", headers(connection))
	check("parallel calls", parallel(connection, 500))
	check("idle", idle(connection))
	for _, authority := range []string{"localhost", socket, strings.ReplaceAll(socket, "/", "%2F")} {
		other := dial("unix:"+socket, grpc.WithAuthority(authority))
		check("authority "+strings.ReplaceAll(authority, socket, "PATH"), echo(other, 5))
		other.Close()
	}
	other := dial("passthrough:///"+socket, grpc.WithContextDialer(func(ctx context.Context, path string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}))
	check("default authority of a path", echo(other, 5))
	other.Close()
	connection.Close()
}

// The methods of test/lib/wire_world.h.
func handle(_ any, s grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(s)
	var message []byte
	if err := s.RecvMsg(&message); err != nil {
		return err
	}
	switch strings.TrimPrefix(method, service) {
	case "Echo":
		return s.SendMsg(&message)
	case "Count":
		for i := range int(message[0]) {
			if err := s.SendMsg(&[]byte{byte(i)}); err != nil {
				return err
			}
		}
		return nil
	case "Keep":
		<-s.Context().Done()
		fmt.Fprintln(os.Stderr, "cancelled:", s.Context().Err())
		return s.Context().Err()
	case "Fail":
		return status.Error(codes.Code(message[0]), string(message[1:]))
	case "Metadata": // what else a server may send
		s.SetHeader(metadata.Pairs("x", "1", "y-bin", "\x00\xff"))
		s.SetTrailer(metadata.Pairs("z", "2"))
		return s.SendMsg(&message)
	case "Deadline":
		end, ok := s.Context().Deadline()
		text := []byte(fmt.Sprint(ok && time.Until(end) > 4*time.Second && time.Until(end) <= 5*time.Second))
		return s.SendMsg(&text)
	}
	return status.Errorf(codes.Unimplemented, "unknown method %s", method)
}

func server(socket string, options ...grpc.ServerOption) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s := grpc.NewServer(append(options, grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(handle),
		grpc.MaxRecvMsgSize(64<<20), grpc.MaxSendMsgSize(64<<20))...)
	go func() {
		line := make([]byte, 1)
		os.Stdin.Read(line) // a byte: GracefulStop, which sends GOAWAY; the end: Stop
		if line[0] == 'g' {
			go s.GracefulStop()
			os.Stdin.Read(line)
		}
		s.Stop()
	}()
	s.Serve(listener)
}

func slow(socket string) {
	connection := dial("unix:" + socket)
	_, err := stream(context.Background(), connection, "Flood", []byte("x"))
	if err != nil {
		fmt.Println("not ok slow:", err)
		os.Exit(1)
	}
	for connection.GetState() == connectivity.Ready {
		connection.WaitForStateChange(context.Background(), connectivity.Ready)
	}
	fmt.Println("ok ended")
}

func bridge(socket string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		one, err := listener.Accept()
		if err != nil {
			return
		}
		other, err := net.Dial("unix", socket)
		if err != nil {
			one.Close()
			continue
		}
		go func() { io.Copy(one, other); one.Close(); other.Close() }()
		go func() { io.Copy(other, one); other.(*net.UnixConn).CloseWrite() }()
	}
}

func main() {
	if len(os.Args) < 3 {
		os.Exit(2)
	}
	socket := os.Args[2]
	switch os.Args[1] {
	case "client":
		client(socket)
	case "server":
		server(socket, grpc.MaxConcurrentStreams(5),
			grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Second, Timeout: time.Second}))
	case "plain":
		server(socket)
	case "slow":
		slow(socket)
	case "bridge":
		bridge(socket)
	}
	if failed {
		os.Exit(1)
	}
}
