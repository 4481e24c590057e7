// Command kubernetes tests Brunt on a control plane of Kubernetes: etcd, the API server and its controllers as released, the k6-operator
// as released, and a stand-in for the one node. tests/kubernetes/run starts it in namespaces of its own, as process 1 of one of them.
package main

import (
	"context"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

type scenario struct {
	name      string
	run       func(*scene) (string, error)
	needsHelm bool
}

var scenarios = []scenario{
	{name: "operator-whole", run: operatorWhole},
	{name: "operator-local-file", run: operatorLocal},
	{name: "operator-broken", run: operatorBroken},
	{name: "operator-crowded", run: operatorCrowded},
	{name: "operator-archive", run: operatorArchive},
	{name: "operator-crossed", run: operatorCrossed},
	{name: "operator-deleted", run: operatorDeleted},
	{name: "manifest-whole", run: machinesWhole},
	{name: "manifest-secure", run: machinesSecure},
	{name: "manifest-gathering", run: machinesGathering},
	{name: "manifest-agent-evicted", run: machinesEvicted},
	{name: "manifest-loss-allowed", run: machinesAllowed},
	{name: "manifest-agent-killed", run: machinesKilled},
	{name: "manifest-leader-killed", run: machinesLeaderKilled},
	{name: "manifest-leader-lost", run: machinesLeaderLost},
	{name: "chart-drained", run: chart, needsHelm: true},
}

func base64Of(content []byte) string { return base64.StdEncoding.EncodeToString(content) }

func main() {
	binaries := flag.String("binaries", "", "the folder of etcd, kube-apiserver, kube-controller-manager, k6-operator")
	brunt := flag.String("brunt", "", "the binary under test")
	helm := flag.String("helm", "", "the binary of helm; without it the chart's scenario is not run")
	imageRoot := flag.String("image", "", "the root file system of Brunt's image")
	folder := flag.String("folder", "", "an empty folder for all that is written")
	only := flag.String("only", "", "run the scenarios whose names have this part")
	flag.Parse()
	code := test(*binaries, *brunt, *helm, *imageRoot, *folder, *only)
	stopParts()
	os.Exit(code)
}

func test(binaries, brunt, helm, imageRoot, folder, only string) int {
	began := time.Now()
	// All scenarios run at once and take a minute; whatever does not come to its end is told as a failure.
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Second)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	s := &stage{ctx: ctx, brunt: brunt, helm: helm, folder: folder}
	if err := s.set(binaries, imageRoot); err != nil {
		fmt.Println("FAIL the control plane:", err)
		return 1
	}
	fmt.Printf("ok   etcd, API server, controllers, k6-operator and NATS are ready (%.1f s)\n", time.Since(began).Seconds())
	var wait sync.WaitGroup
	var mutex sync.Mutex
	passed, failed := 0, 0
	for _, it := range scenarios {
		if !strings.Contains(it.name, only) {
			continue
		}
		if it.needsHelm && helm == "" {
			fmt.Printf("%s: not run, there is no helm (.ci/chart helm builds it)\n", it.name)
			continue
		}
		wait.Add(1)
		go func() {
			defer wait.Done()
			began := time.Now()
			told, err := s.play(it)
			took := time.Since(began).Seconds()
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				failed++
				fmt.Printf("FAIL %s (%.0f s): %v\n", it.name, took, err)
				s.explain(it.name)
				return
			}
			passed++
			fmt.Printf("ok   %s (%.0f s): %s\n", it.name, took, told)
		}()
	}
	wait.Wait()
	s.keepLogs()
	fmt.Printf("kubernetes: %d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		return 1
	}
	return 0
}

// set starts all that the scenarios share.
func (s *stage) set(binaries, imageRoot string) error {
	if err := bridge(); err != nil {
		return err
	}
	var err error
	if s.api, err = startControlPlane(s.ctx, binaries, s.folder); err != nil {
		return err
	}
	shop, err := shopImage(s.folder, imageRoot)
	if err != nil {
		return err
	}
	s.kubelet = &kubelet{
		api: s.api, folder: filepath.Join("/run", "pods"), lives: map[string]*life{},
		images: map[string]image{
			"brunt:": {root: imageRoot, workdir: "/home/k6", entrypoint: []string{"k6"}},
			"shop:":  shop,
			// The starter's image is a curl and a shell: this machine's.
			"ghcr.io/grafana/k6-operator:": {root: "/", workdir: "/"},
		},
	}
	return first(s.kubelet.start(s.ctx), startNATS(s.folder), startOperator(s.ctx, s.api, binaries, s.folder))
}

func (s *stage) play(it scenario) (string, error) {
	place, err := s.scene(it.name)
	if err != nil {
		return "", err
	}
	return it.run(place)
}

// keepLogs writes the logs of all pods beside those of the control plane, before /run is gone.
func (s *stage) keepLogs() {
	for _, it := range scenarios {
		for _, l := range s.kubelet.find(it.name, "") {
			name := fmt.Sprintf("%s.%s.%d.log", it.name, l.pod.Metadata.Name, l.exitCode())
			_ = os.WriteFile(filepath.Join(s.folder, name), l.log(), 0o644)
		}
	}
}

// explain prints what the pods of a scenario that failed said last.
func (s *stage) explain(name string) {
	for _, l := range s.kubelet.find(name, "") {
		var p pod
		state := ""
		if err := s.api.get(podPath(name, l.pod.Metadata.Name), &p); err == nil {
			state = p.Status.Phase + " " + p.Status.Message
		}
		fmt.Printf("  pod %s, code %d, %s\n", l.pod.Metadata.Name, l.exitCode(), state)
		for _, line := range strings.Split(last(string(l.log()), 1200), "\n") {
			fmt.Println("    " + line)
		}
	}
}
