package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"
)

// tell merges this into the status of a pod.
func (k *kubelet) tell(l *life, status map[string]any) {
	path := podPath(l.pod.Metadata.Namespace, l.pod.Metadata.Name) + "/status"
	for try := 0; try < 20; try++ {
		body := map[string]any{"metadata": map[string]string{"uid": l.pod.Metadata.UID}, "status": status}
		err := k.api.send("PATCH", path, body)
		// 404, 409: the pod is gone, or another has its name.
		if code := codeOf(err); err == nil || code == 404 || code == 409 {
			return
		}
		fmt.Fprintln(os.Stderr, "kubelet stand-in:", err)
		time.Sleep(200 * time.Millisecond)
	}
}

func conditions(ready bool) []any {
	word := map[bool]string{true: "True", false: "False"}
	now := time.Now().UTC().Format(time.RFC3339)
	var all []any
	for kind, is := range map[string]bool{"PodScheduled": true, "Initialized": true, "ContainersReady": ready, "Ready": ready} {
		all = append(all, map[string]string{"type": kind, "status": word[is], "lastTransitionTime": now})
	}
	return all
}

func (l *life) container(ready bool, state map[string]any) []any {
	c := l.pod.Spec.Containers[0]
	return []any{map[string]any{
		"name": c.Name, "image": c.Image, "imageID": c.Image, "containerID": "standin://" + l.pod.Metadata.UID,
		"ready": ready, "started": true, "restartCount": 0, "state": state,
	}}
}

func (k *kubelet) tellRunning(l *life) {
	began := l.began.UTC().Format(time.RFC3339)
	k.tell(l, map[string]any{
		"phase": "Running", "podIP": l.network.ip, "podIPs": []any{map[string]string{"ip": l.network.ip}}, "hostIP": nodeIP,
		"startTime": began, "conditions": conditions(l.ready),
		"containerStatuses": l.container(l.ready, map[string]any{"running": map[string]string{"startedAt": began}}),
	})
}

func (k *kubelet) tellEnded(l *life, code int) {
	phase, reason := "Succeeded", "Completed"
	if code != 0 {
		phase, reason = "Failed", "Error"
	}
	k.tell(l, map[string]any{
		"phase": phase, "conditions": conditions(false),
		"containerStatuses": l.container(false, map[string]any{"terminated": map[string]any{
			"exitCode": code, "reason": reason, "containerID": "standin://" + l.pod.Metadata.UID,
			"startedAt": l.began.UTC().Format(time.RFC3339), "finishedAt": l.ended.UTC().Format(time.RFC3339),
		}}),
	})
}

// probe asks a container whether it is ready and alive. One that is not alive is stopped.
func (k *kubelet) probe(ctx context.Context, l *life) {
	c := l.pod.Spec.Containers[0]
	if p := c.ReadinessProbe; p != nil && p.HTTPGet != nil {
		go p.each(ctx, l.network.ip, func(failures int) {
			if ready := failures == 0; ready != l.ready && (ready || failures >= p.limit()) {
				l.ready = ready
				k.tellRunning(l)
			}
		})
	}
	if p := c.LivenessProbe; p != nil && p.HTTPGet != nil {
		go p.each(ctx, l.network.ip, func(failures int) {
			if failures >= p.limit() {
				fmt.Fprintf(os.Stderr, "kubelet stand-in: %s/%s is not alive\n", l.pod.Metadata.Namespace, l.pod.Metadata.Name)
				l.stop(30 * time.Second)
			}
		})
	}
}

func (p *probe) limit() int { return max(p.FailureThreshold, 1) }

// each calls at each period, and tells how many calls in a row have failed by then.
func (p *probe) each(ctx context.Context, ip string, told func(failures int)) {
	client := http.Client{Timeout: time.Duration(max(p.TimeoutSeconds, 1)) * time.Second}
	address := fmt.Sprintf("http://%s:%d%s", ip, p.HTTPGet.Port, p.HTTPGet.Path)
	wait := time.Duration(p.InitialDelaySeconds) * time.Second
	failures := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = time.Duration(max(p.PeriodSeconds, 1)) * time.Second
		answer, err := client.Get(address)
		if err == nil {
			answer.Body.Close()
		}
		if err != nil || answer.StatusCode >= 400 {
			failures++
		} else {
			failures = 0
		}
		if ctx.Err() == nil {
			told(failures)
		}
	}
}
