package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// One test on many pods: what `brunt k8s manifest` prints and what the chart renders, applied.

const natsURL = "nats://" + nodeIP + ":4222"

// printed is the manifest of this script. `more` is further words of `brunt k8s manifest`.
func (s *scene) printed(agents int, text string, more ...string) (string, error) {
	source, err := s.file("shop.js", text)
	if err != nil {
		return "", err
	}
	words := []string{"k8s", "manifest", "--agents", fmt.Sprint(agents), "--name", s.name, "--image", "brunt:test", "--agent-cpu", "1",
		"-e", "URL=" + s.demo.url}
	words = append(words, s.broker...)
	told, err := exec.Command(s.brunt, append(append(words, source), more...)...).Output()
	if failed, is := err.(*exec.ExitError); is {
		return "", fmt.Errorf("brunt k8s manifest: %w: %s", err, failed.Stderr)
	}
	return string(told), err
}

// manifest applies the manifest of this script, and waits until so many requests have reached the target.
func (s *scene) manifest(agents int, text string, requests int, more ...string) error {
	yaml, err := s.printed(agents, text, more...)
	if err != nil {
		return err
	}
	s.began = time.Now()
	if err := s.api.apply(s.name, yaml); err != nil {
		return err
	}
	return s.requested(requests)
}

func (s *scene) leader() string { return s.name + "-leader" }
func (s *scene) agents() string { return s.name + "-agents" }

// codes are the exit codes of the pods that were ever there, in the order of their starts. -1: it has none.
func (s *scene) codes(prefix string) []int {
	var codes []int
	for _, l := range s.kubelet.find(s.name, prefix) {
		codes = append(codes, l.exitCode())
	}
	return codes
}

// alive waits until this many pods with this prefix run, and gives them.
func (s *scene) alive(prefix string, count int) ([]*life, error) {
	var alive []*life
	err := until(s.ctx, time.Minute, func() (bool, string) {
		alive = nil
		for _, l := range s.kubelet.find(s.name, prefix) {
			l.mutex.Lock()
			if l.process != nil && l.code < 0 {
				alive = append(alive, l)
			}
			l.mutex.Unlock()
		}
		return len(alive) >= count, fmt.Sprintf("%d of %d pods %s run", len(alive), count, prefix)
	})
	return alive, err
}

// ends waits for both Jobs, then reads the leader's last log: its own Job, the agents', the log.
func (s *scene) ends() (leader, agents *job, log string, err error) {
	if leader, err = s.ended(s.leader(), 3*time.Minute); err != nil {
		return
	}
	if agents, err = s.ended(s.agents(), time.Minute); err != nil {
		return
	}
	var newest *life
	for _, l := range s.kubelet.find(s.name, s.leader()) {
		if newest == nil || l.began.After(newest.began) {
			newest = l
		}
	}
	return leader, agents, string(newest.log()), nil
}

// evict asks for the end of a pod as a drain of its node does.
func (s *scene) evict(l *life) error {
	name := l.pod.Metadata.Name
	return s.api.send("POST", s.path("pods/"+name+"/eviction"), map[string]any{
		"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]string{"name": name, "namespace": s.name},
	})
}

// machinesWhole: four agents and a leader under PodSecurity's strictest profile; the verdict is 0 and every request is counted once.
func machinesWhole(s *scene) (string, error) {
	if err := s.manifest(4, script(rate(120, 8)), 0); err != nil {
		return "", err
	}
	leader, agents, log, err := s.ends()
	if err != nil {
		return "", err
	}
	took := s.seconds()
	all, err := counted(log)
	return fmt.Sprintf("%v of 4 agents, ended %s after apply", all, took), first(err, all.addUp(961, s.demo.pings()),
		expect(leader.has("Complete") && agents.has("Complete") && agents.Status.Succeeded == 4, "both Jobs complete: %+v %+v", leader.Status, agents.Status))
}

// machinesEvicted: an agent's pod is drained. It sends all that it measured before it goes, so that no request is unaccounted for; the
// share that is missing is told by 111.
func machinesEvicted(s *scene) (string, error) {
	if err := s.manifest(3, script(rate(60, 12)), 60); err != nil {
		return "", err
	}
	alive, err := s.alive(s.agents(), 3)
	if err != nil {
		return "", err
	}
	if err := s.evict(alive[1]); err != nil {
		return "", err
	}
	leader, agents, log, err := s.ends()
	if err != nil {
		return "", err
	}
	all, err := counted(log)
	had := s.demo.pings()
	evicted := alive[1]
	return fmt.Sprintf("agents ended with %v, the evicted one %.1f s after SIGTERM; leader %v, %d of 721 requests sent and counted",
			s.codes(s.agents()), evicted.ended.Sub(evicted.stopped).Seconds(), s.codes(s.leader()), had), first(err,
			expect(all.requests == had && had < 721, "as many requests counted as sent, fewer than 721: %+v, %d", all, had),
			expect(fmt.Sprint(s.codes(s.leader())) == "[111]" && leader.has("Failed"), "the leader's verdict 111 at once, not %v %+v", s.codes(s.leader()), leader.Status),
			expect(strings.Contains(log, "seat"), "the seat in the log %q", last(log, 1500)),
			expect(agents.Status.Succeeded >= 2, "the other agents end well: %+v %v", agents.Status, s.codes(s.agents())))
}

// machinesAllowed: the leader was told to bear the loss of one agent.
func machinesAllowed(s *scene) (string, error) {
	if err := s.manifest(3, script(rate(60, 8)), 60, "--", "--allow-lost", "1"); err != nil {
		return "", err
	}
	alive, err := s.alive(s.agents(), 3)
	if err != nil {
		return "", err
	}
	if err := s.evict(alive[0]); err != nil {
		return "", err
	}
	leader, _, log, err := s.ends()
	if err != nil {
		return "", err
	}
	all, err := counted(log)
	return fmt.Sprintf("leader %v, %v", s.codes(s.leader()), all), first(err,
		expect(all.requests == s.demo.pings() && all.requests < 481, "as many requests counted as sent, fewer than 481: %+v", all),
		expect(leader.has("Complete"), "the leader's Job is complete: %+v", leader.Status))
}

// machinesKilled: an agent is killed (137). One pod takes the place of the killed one in its Job, finds its run gone on, and ends with 111.
func machinesKilled(s *scene) (string, error) {
	if err := s.manifest(3, script(rate(60, 25)), 60); err != nil {
		return "", err
	}
	alive, err := s.alive(s.agents(), 3)
	if err != nil {
		return "", err
	}
	alive[2].kill()
	leader, agents, log, err := s.ends()
	if err != nil {
		return "", err
	}
	all, err := counted(log)
	had := s.demo.pings()
	codes := s.codes(s.agents())
	return fmt.Sprintf("agents ended with %v, leader %v, %d requests counted of %d sent", codes, s.codes(s.leader()), all.requests, had), first(err,
		// What the dead one had not sent yet: frames of a second at 20/s, and a few seconds' worth where the machine is slow.
		expect(all.requests <= had && had-all.requests <= 60, "no more than 60 of %d requests uncounted: %+v", had, all),
		expect(fmt.Sprint(s.codes(s.leader())) == "[111]" && leader.has("Failed"), "the leader's verdict 111 at once, not %v %+v", s.codes(s.leader()), leader.Status),
		expect(len(codes) == 4, "one pod in the place of the killed one, not %v", codes),
		expect(agents.Status.Succeeded == 2, "the other agents end well: %+v", agents.Status))
}

// machinesGathering: an agent is killed while the leader still waits for others, as happens when a cluster grows. Its Job starts it again,
// it gets its seat again, and the test is whole.
func machinesGathering(s *scene) (string, error) {
	yaml, err := s.printed(3, script(rate(30, 5)))
	if err != nil {
		return "", err
	}
	// One of three has no place yet.
	less := strings.Replace(yaml, "parallelism: 3", "parallelism: 2", 1)
	if err := first(expect(less != yaml, "a Job of three agents: %s", yaml), s.api.apply(s.name, less)); err != nil {
		return "", err
	}
	alive, err := s.alive(s.agents(), 2)
	if err != nil {
		return "", err
	}
	log := func() string { return string(s.kubelet.find(s.name, s.leader())[0].log()) }
	if _, err := s.alive(s.leader(), 1); err != nil {
		return "", err
	}
	if err := until(s.ctx, time.Minute, func() (bool, string) {
		text := log()
		return strings.Contains(text, "2 of 3"), "the leader has two of three agents: " + text
	}); err != nil {
		return "", err
	}
	alive[0].kill()
	if err := until(s.ctx, time.Minute, func() (bool, string) {
		all := s.kubelet.find(s.name, s.agents())
		return len(all) == 3, fmt.Sprintf("%d pods of agents", len(all))
	}); err != nil {
		return "", err
	}
	path := "/apis/batch/v1/namespaces/" + s.name + "/jobs/" + s.agents()
	if err := s.api.send("PATCH", path, map[string]any{"spec": map[string]int{"parallelism": 3}}); err != nil {
		return "", err
	}
	leader, agents, text, err := s.ends()
	if err != nil {
		return "", err
	}
	all, err := counted(text)
	return fmt.Sprintf("agents ended with %v, leader %v, %v", s.codes(s.agents()), s.codes(s.leader()), all), first(err, all.addUp(151, s.demo.pings()),
		expect(leader.has("Complete") && agents.has("Complete"), "both Jobs complete: %+v %+v", leader.Status, agents.Status))
}

// resumes: the leader's pod ends in this way at a third of the test. It comes again, takes the run up, and counts as if nothing had been.
func resumes(s *scene, end func(l *life)) (leader *job, told string, err error) {
	if err := s.manifest(2, script(rate(40, 30)), 300); err != nil {
		return nil, "", err
	}
	alive, err := s.alive(s.leader(), 1)
	if err != nil {
		return nil, "", err
	}
	end(alive[0])
	leader, agents, log, err := s.ends()
	if err != nil {
		return nil, "", err
	}
	all, err := counted(log)
	return leader, fmt.Sprintf("leader %v, %v", s.codes(s.leader()), all), first(err, all.addUp(1201, s.demo.pings()),
		expect(leader.has("Complete") && agents.has("Complete"), "both Jobs complete: %+v %+v", leader.Status, agents.Status))
}

func machinesLeaderKilled(s *scene) (string, error) {
	leader, told, err := resumes(s, func(l *life) { l.kill() })
	if err != nil {
		return told, err
	}
	return told, expect(leader.Status.Failed == 1, "one failure counted: %+v", leader.Status)
}

func machinesLeaderLost(s *scene) (string, error) {
	leader, told, err := resumes(s, s.kubelet.lose)
	if err != nil {
		return told, err
	}
	return told, expect(leader.Status.Failed == 0, "a node that is gone counts as no failure: %+v", leader.Status)
}

// chart: helm installs the chart with a disruption budget. Drains spare the agents; the leader that is drained ends the test in good
// order, and its Job fails at once with the code of an interrupted test.
func chart(s *scene) (string, error) {
	source, err := s.file("shop.js", script(rate(40, 60)))
	if err != nil {
		return "", err
	}
	archive, err := exec.Command(s.brunt, "archive", "-O", "-", "-e", "URL="+s.demo.url, source).Output()
	if err != nil {
		return "", fmt.Errorf("brunt archive: %w", err)
	}
	data, err := s.file("archive.b64", base64Of(archive))
	if err != nil {
		return "", err
	}
	s.began = time.Now()
	helm := exec.Command(s.helm, "install", s.name, filepath.Join("deploy", "helm", "brunt"), "--namespace", s.name,
		"--set", "image=brunt:test", "--set", "agents.count=2", "--set", "agents.disruptionBudget=true", "--set-string", "agents.cpu=1",
		"--set", "nats.url="+natsURL, "--set-file", "archive.data="+data)
	helm.Env = []string{"HOME=" + filepath.Dir(data), "PATH=" + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(s.folder, "kubeconfig")}
	if text, err := helm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("helm install: %w: %s", err, text)
	}
	if err := s.requested(60); err != nil {
		return "", err
	}
	alive, err := s.alive(s.agents(), 2)
	if err != nil {
		return "", err
	}
	refused := s.evict(alive[0])
	if err := expect(codeOf(refused) == 429, "the drain of an agent is refused: %v", refused); err != nil {
		return "", err
	}
	leaders, err := s.alive(s.leader(), 1)
	if err != nil {
		return "", err
	}
	if err := s.evict(leaders[0]); err != nil {
		return "", err
	}
	leader, agents, log, err := s.ends()
	if err != nil {
		return "", err
	}
	all, err := counted(log)
	had := s.demo.pings()
	return fmt.Sprintf("drain of an agent refused; drained leader %v %.1f s after SIGTERM, %d requests sent and counted",
			s.codes(s.leader()), leaders[0].ended.Sub(leaders[0].stopped).Seconds(), had), first(err,
			expect(all.requests == had, "as many requests counted as sent: %+v, %d", all, had),
			expect(fmt.Sprint(s.codes(s.leader())) == "[105]" && leader.has("Failed"), "105 and no other pod: %v %+v", s.codes(s.leader()), leader.Status),
			expect(agents.has("Complete"), "the agents end well: %+v %v", agents.Status, s.codes(s.agents())))
}
