package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// kubelet stands in for the scheduler, for a node's kubelet and for kube-proxy: it binds pods to the one node, runs their containers
// in namespaces of their own (container.go), tells their states, ends those that are deleted, and serves their logs (logs.go).
//
// What it lacks: init containers, more than one container, restarts, limits of CPU and memory, seccomp, DNS, volumes other than
// emptyDir, configMap and secret. A pod that needs what it lacks fails and says so, but for limits, seccomp and DNS.
type kubelet struct {
	api    *api
	images map[string]image
	folder string

	mutex sync.Mutex
	lives map[string]*life
}

// image is a root file system (several folders with `:` between them, the uppermost first), and what runs there if a container names no
// command.
type image struct {
	root, workdir string
	entrypoint    []string
}

// life is a pod on the node.
type life struct {
	pod     pod
	folder  string
	network *network
	ready   bool

	mutex    sync.Mutex
	process  *os.Process
	stopping bool
	isLost   bool
	began    time.Time
	stopped  time.Time
	ended    time.Time
	// exit is the exit code, there before the API hears of it; code is set when the API has heard. -1: it has none.
	exit, code int
}

func (k *kubelet) start(ctx context.Context) error {
	if err := k.serveLogs(); err != nil {
		return err
	}
	node := map[string]any{"metadata": map[string]any{"name": "node", "labels": map[string]string{"kubernetes.io/hostname": "node"}}}
	if err := k.api.send("POST", "/api/v1/nodes", node); err != nil {
		return err
	}
	status := map[string]any{"status": map[string]any{
		"addresses":       []any{map[string]string{"type": "InternalIP", "address": nodeIP}},
		"capacity":        map[string]string{"cpu": "64", "memory": "64Gi", "pods": "250"},
		"conditions":      []any{map[string]string{"type": "Ready", "status": "True", "reason": "StandIn"}},
		"daemonEndpoints": map[string]any{"kubeletEndpoint": map[string]int{"Port": 10250}},
	}}
	if err := k.api.send("PATCH", "/api/v1/nodes/node/status", status); err != nil {
		return err
	}
	go func() {
		for ctx.Err() == nil {
			if err := k.sync(); err != nil {
				fmt.Fprintln(os.Stderr, "kubelet stand-in:", err)
			}
			time.Sleep(150 * time.Millisecond)
		}
	}()
	return nil
}

// sync compares the pods that there should be with those that there are.
func (k *kubelet) sync() error {
	var pods struct{ Items []pod }
	if err := k.api.get("/api/v1/pods?resourceVersion=0", &pods); err != nil {
		return err
	}
	for _, p := range pods.Items {
		path := podPath(p.Metadata.Namespace, p.Metadata.Name)
		k.mutex.Lock()
		known := k.lives[p.Metadata.UID]
		k.mutex.Unlock()
		switch {
		case p.Spec.NodeName == "" && p.Metadata.DeletionTimestamp == nil:
			binding := map[string]any{
				"apiVersion": "v1", "kind": "Binding", "metadata": map[string]string{"name": p.Metadata.Name},
				"target": map[string]string{"apiVersion": "v1", "kind": "Node", "name": "node"},
			}
			// It may be gone by now, or bound: the next look tells.
			if err := k.api.send("POST", path+"/binding", binding); err != nil && codeOf(err) != 404 && codeOf(err) != 409 {
				return err
			}
		case known == nil && p.Status.Phase == "Pending" && p.Metadata.DeletionTimestamp == nil:
			l := &life{pod: p, folder: filepath.Join(k.folder, p.Metadata.Namespace, p.Metadata.Name+"-"+p.Metadata.UID[:8]), exit: -1, code: -1}
			k.mutex.Lock()
			k.lives[p.Metadata.UID] = l
			k.mutex.Unlock()
			go k.live(l)
		case p.Metadata.DeletionTimestamp != nil && (known == nil || known.isOver()):
			_, _ = k.api.call("DELETE", path+"?gracePeriodSeconds=0", "", nil)
		case p.Metadata.DeletionTimestamp != nil:
			grace := 30 * time.Second
			if p.Metadata.DeletionGrace != nil {
				grace = time.Duration(*p.Metadata.DeletionGrace) * time.Second
			}
			known.stop(grace)
		}
	}
	return k.balance()
}

// balance gives the address of each Service to the pod that it selects. Two pods behind one Service are not among what is tested.
func (k *kubelet) balance() error {
	var all struct{ Items []service }
	if err := k.api.get("/api/v1/services?resourceVersion=0", &all); err != nil {
		return err
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	for _, s := range all.Items {
		if len(s.Spec.Selector) == 0 || s.Spec.ClusterIP == "None" {
			continue
		}
		for _, l := range k.lives {
			l.mutex.Lock()
			serves := l.process != nil && l.code < 0 && l.pod.Metadata.Namespace == s.Metadata.Namespace && selects(s.Spec.Selector, l.pod.Metadata.Labels)
			l.mutex.Unlock()
			if serves {
				if err := l.network.serve(s.Spec.ClusterIP); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// live runs a pod from its first state to its last.
func (k *kubelet) live(l *life) {
	command, log, err := k.prepare(l)
	if err == nil {
		defer log.Close()
		err = command.Start()
	}
	if err != nil {
		k.tell(l, map[string]any{"phase": "Failed", "reason": "StandIn", "message": err.Error()})
		l.mutex.Lock()
		l.exit, l.code = 128, 128
		l.mutex.Unlock()
		return
	}
	l.mutex.Lock()
	l.process, l.began = command.Process, time.Now()
	l.mutex.Unlock()
	ctx, over := context.WithCancel(context.Background())
	l.ready = l.pod.Spec.Containers[0].ReadinessProbe == nil
	k.tellRunning(l)
	go k.probe(ctx, l)
	_ = command.Wait()
	over()
	code := command.ProcessState.ExitCode()
	if status, is := command.ProcessState.Sys().(syscall.WaitStatus); is && status.Signaled() {
		code = 128 + int(status.Signal())
	}
	l.mutex.Lock()
	l.ended, l.exit = time.Now(), code
	isLost := l.isLost
	l.mutex.Unlock()
	if !isLost {
		k.tellEnded(l, code)
	}
	l.mutex.Lock()
	l.code = code
	l.mutex.Unlock()
	l.network.remove()
}

func (l *life) start() time.Time {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.began
}

func (l *life) exitCode() int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.exit
}

func (l *life) isOver() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.code >= 0
}

// stop ends a pod as a kubelet does: SIGTERM, and SIGKILL when its time of grace is over.
func (l *life) stop(grace time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.stopping || l.process == nil {
		return
	}
	l.stopping, l.stopped = true, time.Now()
	process := l.process
	_ = process.Signal(syscall.SIGTERM)
	time.AfterFunc(grace, func() {
		if !l.isOver() {
			_ = process.Kill()
		}
	})
}

// find gives the pods of a namespace that were ever on the node and whose name begins so, in the order of their starts.
func (k *kubelet) find(namespace, prefix string) []*life {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	var found []*life
	for _, l := range k.lives {
		if l.pod.Metadata.Namespace == namespace && strings.HasPrefix(l.pod.Metadata.Name, prefix) {
			found = append(found, l)
		}
	}
	sort.Slice(found, func(a, b int) bool { return found[a].start().Before(found[b].start()) })
	return found
}

// kill ends a pod's process without a warning, as the kernel does when memory is short: 137.
func (l *life) kill() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_ = l.process.Kill()
}

// lose ends a pod as if its node were gone: nobody tells an exit code, and the control plane marks the pod as disrupted.
func (k *kubelet) lose(l *life) {
	l.mutex.Lock()
	l.isLost = true
	_ = l.process.Kill()
	l.mutex.Unlock()
	k.tell(l, map[string]any{"phase": "Failed", "reason": "NodeLost", "conditions": []any{map[string]string{
		"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": "PodGC: node no longer exists",
	}}})
}

func podPath(namespace, name string) string {
	return "/api/v1/namespaces/" + namespace + "/pods/" + name
}
