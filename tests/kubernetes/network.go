package main

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
)

// The network of the one node, made in the network namespace in which all of this runs:
//
//	br0   10.244.0.1/16               API server, operator, NATS, demo targets, probes
//	pod   10.244.1.N/16 and, for each Service that selects the pod, the Service's address in 10.96.0.0/16
const (
	nodeIP   = "10.244.0.1"
	services = "10.96.0.0/16"
)

// run calls a program to its end; what it wrote is part of the error.
func run(name string, words ...string) (string, error) {
	told, err := exec.Command(name, words...).CombinedOutput()
	if err != nil {
		return string(told), fmt.Errorf("%s %s: %w: %s", name, strings.Join(words, " "), err, told)
	}
	return string(told), nil
}

func shell(lines string) error {
	_, err := run("sh", "-euc", lines)
	return err
}

// bridge makes the node's side. /run is our own, so that names of network namespaces meet no others.
func bridge() error {
	return shell(`mount -t tmpfs -o mode=755 tmpfs /run
		mkdir -p /run/netns
		ip link set lo up
		ip link add br0 type bridge
		ip link set br0 up
		ip addr add ` + nodeIP + `/16 dev br0
		ip route add ` + services + ` dev br0`)
}

var (
	addresses     sync.Mutex
	addressesUsed int
)

// network is that of one pod.
type network struct {
	name, ip string
	services map[string]bool
}

func newNetwork() (*network, error) {
	addresses.Lock()
	addressesUsed++
	number := addressesUsed
	addresses.Unlock()
	n := &network{
		name:     fmt.Sprintf("pod%d", number),
		ip:       fmt.Sprintf("10.244.%d.%d", 1+number/250, 1+number%250),
		services: map[string]bool{},
	}
	return n, shell(fmt.Sprintf(`ip netns add %[1]s
		ip link add %[1]s type veth peer name eth0 netns %[1]s
		ip link set %[1]s master br0 up
		ip -n %[1]s link set lo up
		ip -n %[1]s link set eth0 up
		ip -n %[1]s addr add %[2]s/16 dev eth0
		ip -n %[1]s route add %[3]s dev eth0`, n.name, n.ip, services))
}

// serve makes the pod answer at the address of a Service.
func (n *network) serve(address string) error {
	if n.services[address] {
		return nil
	}
	n.services[address] = true
	_, err := run("ip", "-n", n.name, "addr", "add", address+"/32", "dev", "eth0")
	return err
}

func (n *network) remove() {
	// The link ends with the namespace, and the namespace with us at the latest.
	_, _ = run("ip", "netns", "delete", n.name)
}
