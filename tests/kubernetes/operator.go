package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Brunt as the runner of the unmodified k6-operator.

// testRun is a TestRun as docs/guide/k6-operator.md has it. `more` is further lines of its specification.
func (s *scene) testRun(parallelism int, file, more string) string {
	lines := `apiVersion: k6.io/v1alpha1
kind: TestRun
metadata: { name: shop }
spec:
  parallelism: PARALLELISM
  script: { configMap: { name: shop, file: FILE } }
  runner:
    image: brunt:test
    env: [{ name: URL, value: 'ADDRESS' }]
    SECURITY
    volumes: [{ name: tmp, emptyDir: {} }]
    volumeMounts: [{ name: tmp, mountPath: /tmp }]
  starter:
    SECURITY
`
	security := `securityContext: { runAsNonRoot: true, runAsUser: 12345, seccompProfile: { type: RuntimeDefault } }
    containerSecurityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }`
	return strings.NewReplacer("PARALLELISM", fmt.Sprint(parallelism), "FILE", file, "ADDRESS", s.demo.url, "SECURITY", security).
		Replace(lines) + more
}

// begin makes the ConfigMap and the TestRun, and waits until the TestRun reaches a stage.
func (s *scene) begin(parallelism int, file string, content []byte, more, stage string) error {
	configMap := map[string]any{
		"metadata":   map[string]string{"name": "shop"},
		"binaryData": map[string]string{file: base64.StdEncoding.EncodeToString(content)},
	}
	s.began = time.Now()
	if err := s.api.send("POST", s.path("configmaps"), configMap); err != nil {
		return err
	}
	if err := s.api.apply(s.name, s.testRun(parallelism, file, more)); err != nil {
		return err
	}
	return s.reaches(stage)
}

// stageOf is the stage of the TestRun; "gone" if there is none.
func (s *scene) stageOf() string {
	var told struct{ Status struct{ Stage string } }
	err := s.api.get("/apis/k6.io/v1alpha1/namespaces/"+s.name+"/testruns/shop", &told)
	if codeOf(err) == 404 {
		return "gone"
	}
	return told.Status.Stage
}

func (s *scene) reaches(stage string) error {
	return until(s.ctx, 2*time.Minute, func() (bool, string) {
		now := s.stageOf()
		return now == stage, fmt.Sprintf("TestRun %s reached %q, it is at %q", s.name, stage, now)
	})
}

var stageLine = regexp.MustCompile(`Changing stage of TestRun status to (\w+)\t\{"namespace": "([^"]+)"`)

// stages are those that the operator's log tells of this TestRun.
func (s *scene) stages() string {
	text, _ := os.ReadFile(filepath.Join(s.folder, "k6-operator.log"))
	var all []string
	for _, found := range stageLine.FindAllStringSubmatch(string(text), -1) {
		// It may set a stage twice.
		if found[2] == s.name && (len(all) == 0 || all[len(all)-1] != found[1]) {
			all = append(all, found[1])
		}
	}
	return strings.Join(all, " ")
}

const allStages = "initialization initialized created started stopped finished"

// runners gives the logs and the exit codes of the runners.
func (s *scene) runners(count int) (logs []string, codes []int, err error) {
	for index := 1; index <= count; index++ {
		found, err := s.pods(fmt.Sprintf("shop-%d-", index))
		if err != nil {
			return nil, nil, err
		}
		if len(found) != 1 {
			return nil, nil, fmt.Errorf("%d pods of runner %d", len(found), index)
		}
		log, err := s.log(found[0].Metadata.Name)
		if err != nil {
			return nil, nil, err
		}
		logs, codes = append(logs, log), append(codes, found[0].exitCode())
	}
	return logs, codes, nil
}

// whole: a script of a ConfigMap on four runners goes through all stages, and every request is counted once.
func operatorWhole(s *scene) (string, error) {
	more := "  arguments: --tag team=shop --no-usage-report\n"
	if err := s.begin(4, "shop.js", []byte(script(rate(200, 8))), more, "finished"); err != nil {
		return "", err
	}
	took := s.seconds()
	logs, codes, err := s.runners(4)
	if err != nil {
		return "", err
	}
	all, err := counted(logs...)
	return fmt.Sprintf("%v of 4 runners, finished %s after apply", all, took), first(err, all.addUp(1601, s.demo.pings()),
		expect(fmt.Sprint(codes) == "[0 0 0 0]", "exit codes 0, not %v", codes),
		expect(s.stages() == allStages, "the stages %q, not %q", allStages, s.stages()))
}

// local: the script is in an image that has Brunt's below it.
func operatorLocal(s *scene) (string, error) {
	yaml := s.testRun(2, "", "")
	for _, change := range [][2]string{{"configMap: { name: shop, file:  }", "localFile: /srv/shop.js"}, {"image: brunt:test", "image: shop:1"}} {
		changed := strings.Replace(yaml, change[0], change[1], 1)
		if changed == yaml {
			return "", fmt.Errorf("no %q in %s", change[0], yaml)
		}
		yaml = changed
	}
	s.began = time.Now()
	if err := s.api.apply(s.name, yaml); err != nil {
		return "", err
	}
	if err := s.reaches("finished"); err != nil {
		return "", err
	}
	logs, codes, err := s.runners(2)
	if err != nil {
		return "", err
	}
	all, err := counted(logs...)
	return fmt.Sprintf("%v of 2 runners", all), first(err, all.addUp(100, s.demo.pings()),
		expect(fmt.Sprint(codes) == "[0 0]", "exit codes 0, not %v", codes))
}

// shopImage adds a script to the image: one more layer.
func shopImage(folder, root string) (image, error) {
	layer := filepath.Join(folder, "layer")
	if err := os.MkdirAll(filepath.Join(layer, "srv"), 0o755); err != nil {
		return image{}, err
	}
	text := script("scenarios: { a: { executor: 'shared-iterations', vus: 4, iterations: 100 } }")
	err := os.WriteFile(filepath.Join(layer, "srv", "shop.js"), []byte(text), 0o644)
	return image{root: layer + ":" + root, workdir: "/home/k6", entrypoint: []string{"k6"}}, err
}

// broken: a script that throws ends in the stage `error`, before there is a runner, and the initializer's log names the line.
func operatorBroken(s *scene) (string, error) {
	broken := "import http from 'k6/http';\nthrow new Error('the shop is shut');\nexport default function () {}\n"
	if err := s.begin(2, "shop.js", []byte(broken), "", "error"); err != nil {
		return "", err
	}
	took := s.seconds()
	pods, err := s.pods("shop-")
	if err != nil {
		return "", err
	}
	if len(pods) != 1 {
		return "", fmt.Errorf("expected the initializer alone, there are %d pods", len(pods))
	}
	log, err := s.log(pods[0].Metadata.Name)
	return "stage error " + took + " after apply", first(err,
		expect(pods[0].exitCode() == 1, "exit code 1 of the initializer, not %d", pods[0].exitCode()),
		expect(strings.Contains(log, "the shop is shut") && strings.Contains(log, "shop.js:2"), "the message and its line in the log %q", log))
}

// crowded: more runners than VUs end in the stage `error`: the operator compares its number with that of `inspect`.
func operatorCrowded(s *scene) (string, error) {
	if err := s.begin(4, "shop.js", []byte(script("vus: 3, iterations: 3")), "", "error"); err != nil {
		return "", err
	}
	pods, err := s.pods("shop-")
	return "stage error, 4 runners and 3 VUs", first(err, expect(len(pods) == 1, "the initializer alone, not %d pods", len(pods)))
}

// archive: an archive of Brunt's is taken as a script is, and `cleanup: post` leaves nothing behind.
func operatorArchive(s *scene) (string, error) {
	source, err := s.file("shop.js", script("scenarios: { a: { executor: 'shared-iterations', vus: 6, iterations: 300 } }"))
	if err != nil {
		return "", err
	}
	archive := filepath.Join(filepath.Dir(source), "shop.tar")
	if _, err := run(s.brunt, "archive", "-O", archive, source); err != nil {
		return "", err
	}
	content, err := os.ReadFile(archive)
	if err != nil {
		return "", err
	}
	if err := s.begin(3, "shop.tar", content, "  cleanup: post\n", "gone"); err != nil {
		return "", err
	}
	took := s.seconds()
	err = until(s.ctx, time.Minute, func() (bool, string) {
		left, err := s.pods("shop-")
		return err == nil && len(left) == 0, fmt.Sprintf("the pods are gone: %d are there, %v", len(left), err)
	})
	had := s.demo.pings()
	return fmt.Sprintf("%d requests of 3 runners, TestRun gone %s after apply", had, took), first(err,
		expect(had == 300, "300 requests at the target, not %d", had),
		expect(s.stages() == allStages, "the stages %q, not %q", allStages, s.stages()))
}

// crossed: a crossed threshold fails the Jobs of the runners with 99; the operator ends in `finished` all the same.
func operatorCrossed(s *scene) (string, error) {
	text := script("vus: 2, iterations: 20, thresholds: { iterations: ['count>1000'] }")
	if err := s.begin(2, "shop.js", []byte(text), "", "finished"); err != nil {
		return "", err
	}
	_, codes, err := s.runners(2)
	if err != nil {
		return "", err
	}
	one, err := s.ended("shop-1", time.Minute)
	return "finished, runners ended with 99", first(err,
		expect(fmt.Sprint(codes) == "[99 99]", "exit codes 99, not %v", codes),
		expect(one.has("Failed"), "the runner's Job failed: %+v", one.Status))
}

// deleted: a TestRun that is deleted while it runs takes its pods along: they end in good order by themselves, before
// their time of grace is over (137 would tell otherwise).
func operatorDeleted(s *scene) (string, error) {
	text := script("vus: 2, duration: '10m'") + "export function teardown() { console.log('teardown ran'); }\n"
	if err := s.begin(2, "shop.js", []byte(text), "", "started"); err != nil {
		return "", err
	}
	if err := s.requested(20); err != nil {
		return "", err
	}
	path := "/apis/k6.io/v1alpha1/namespaces/" + s.name + "/testruns/shop?propagationPolicy=Background"
	if _, err := s.api.call("DELETE", path, "", nil); err != nil {
		return "", err
	}
	var longest time.Duration
	for _, prefix := range []string{"shop-1-", "shop-2-"} {
		found := s.kubelet.find(s.name, prefix)
		if len(found) != 1 {
			return "", fmt.Errorf("%d pods %s", len(found), prefix)
		}
		l := found[0]
		if err := until(s.ctx, 40*time.Second, func() (bool, string) { return l.isOver(), prefix + " is over" }); err != nil {
			return "", err
		}
		took := l.ended.Sub(l.stopped)
		longest = max(longest, took)
		log := string(l.log())
		err := first(
			expect(l.exitCode() == 105, "exit code 105, not %d: %s", l.exitCode(), last(log, 800)),
			expect(strings.Contains(log, "teardown ran") && countedLine.MatchString(log), "teardown and a summary in the log %q", last(log, 800)))
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("runners ended with 105, teardown and summary, %.1f s after SIGTERM", longest.Seconds()), nil
}
