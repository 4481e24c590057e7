package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// stage is what every scenario finds: the control plane, the node, the programs.
type stage struct {
	ctx     context.Context
	api     *api
	kubelet *kubelet
	brunt   string
	helm    string
	folder  string
	ports   atomic.Int32
}

// scene is the place of one scenario: a namespace in which Kubernetes takes only pods of PodSecurity's strictest profile, and a demo
// target that counts the requests of this scenario alone.
type scene struct {
	*stage
	name  string
	demo  *demo
	began time.Time
	// The flags of `brunt k8s manifest` that name NATS.
	broker []string
}

func (s *stage) scene(name string) (*scene, error) {
	namespace := map[string]any{"metadata": map[string]any{"name": name, "labels": map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted",
	}}}
	if err := s.api.send("POST", "/api/v1/namespaces", namespace); err != nil {
		return nil, err
	}
	err := until(s.ctx, time.Minute, func() (bool, string) {
		_, err := s.api.call("GET", "/api/v1/namespaces/"+name+"/serviceaccounts/default", "", nil)
		return err == nil, fmt.Sprint("the namespace has a service account: ", err)
	})
	if err != nil {
		return nil, err
	}
	target, err := startDemo(s.brunt, 8100+int(s.ports.Add(1)))
	return &scene{stage: s, name: name, demo: target, began: time.Now(), broker: []string{"--nats", natsURL}}, err
}

// script is a test of which each iteration is one request, and whose summary tells how many there were of both, and how many iterations
// were due and found no VU.
func script(options string) string {
	return "import http from 'k6/http';\n" +
		"export const options = { " + options + " };\n" +
		"export default function () { http.get(__ENV.URL + '/ping'); }\n" +
		"export function handleSummary(data) {\n" +
		"  const of = (name) => (data.metrics[name] ? data.metrics[name].values.count : 0);\n" +
		"  return { stdout: '\\nCOUNTED ' + of('iterations') + ' ' + of('http_reqs') + ' ' + of('dropped_iterations') + '\\n' };\n" +
		"}\n"
}

// rate is a scenario that starts perSecond iterations each second, and one at the end of the time.
func rate(perSecond, seconds int) string {
	return fmt.Sprintf("scenarios: { a: { executor: 'constant-arrival-rate', rate: %d, duration: '%ds', preAllocatedVUs: 16, maxVUs: 64 } }",
		perSecond, seconds)
}

var countedLine = regexp.MustCompile(`(?m)^COUNTED (\d+) (\d+) (\d+)$`)

// counts are those of all summaries of a test.
type counts struct{ iterations, requests, dropped int }

// counted adds up what the summaries in these logs count. All of them must have one.
func counted(logs ...string) (all counts, err error) {
	for _, log := range logs {
		found := countedLine.FindAllStringSubmatch(log, -1)
		if len(found) != 1 {
			return all, fmt.Errorf("%d summaries in the log %q", len(found), last(log, 1500))
		}
		for at, to := range []*int{&all.iterations, &all.requests, &all.dropped} {
			// The pattern lets only digits through.
			count, _ := strconv.Atoi(found[0][at+1])
			*to += count
		}
	}
	return all, nil
}

// addUp: all iterations that were due were made or told as dropped, and each request that was made reached the target and was counted.
func (c counts) addUp(due, had int) error {
	return expect(c.iterations+c.dropped == due && c.requests == c.iterations && c.requests == had,
		"%d iterations made or dropped, each one request at the target: %+v, %d at the target", due, c, had)
}

func (c counts) String() string {
	return fmt.Sprintf("%d iterations (%d dropped), %d requests", c.iterations, c.dropped, c.requests)
}

func last(text string, size int) string {
	return text[max(0, len(text)-size):]
}

// file writes a file into the folder of the scenario.
func (s *scene) file(name, text string) (string, error) {
	folder := filepath.Join(s.folder, "scenes", s.name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(folder, name)
	return path, os.WriteFile(path, []byte(text), 0o644)
}

func (s *scene) path(of string) string { return "/api/v1/namespaces/" + s.name + "/" + of }

// pods are those whose names begin so.
func (s *scene) pods(prefix string) ([]pod, error) {
	var all struct{ Items []pod }
	if err := s.api.get(s.path("pods"), &all); err != nil {
		return nil, err
	}
	var found []pod
	for _, p := range all.Items {
		if strings.HasPrefix(p.Metadata.Name, prefix) {
			found = append(found, p)
		}
	}
	return found, nil
}

// log asks the API server for the log of a pod, and the server the node.
func (s *scene) log(name string) (string, error) {
	text, err := s.api.call("GET", s.path("pods/"+name+"/log"), "", nil)
	return string(text), err
}

func (s *scene) job(name string) (*job, error) {
	it := &job{}
	err := s.api.get("/apis/batch/v1/namespaces/"+s.name+"/jobs/"+name, it)
	return it, err
}

// ended waits for the end of a Job, good or bad.
func (s *scene) ended(name string, patience time.Duration) (it *job, err error) {
	err = until(s.ctx, patience, func() (bool, string) {
		if it, err = s.job(name); err != nil {
			return false, err.Error()
		}
		return it.has("Complete") || it.has("Failed"), fmt.Sprintf("Job %s/%s has ended: %+v", s.name, name, it.Status)
	})
	return it, err
}

// requested waits until the demo target has had so many requests.
func (s *scene) requested(count int) error {
	return until(s.ctx, time.Minute, func() (bool, string) {
		had := s.demo.pings()
		return had >= count, fmt.Sprintf("%d of %d requests reached the target", had, count)
	})
}

func (s *scene) seconds() string { return fmt.Sprintf("%.1f s", time.Since(s.began).Seconds()) }

// expect is an error if it does not hold.
func expect(holds bool, format string, words ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf("expected: "+format, words...)
}

// first is the first error of these.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
