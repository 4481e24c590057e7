package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// api is the API server, seen by an administrator.
type api struct {
	client *http.Client
	base   string
	token  string
}

func newAPI(base, token string) *api {
	// The server makes its own certificate when it starts; both ends are in one network namespace.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 16}
	return &api{client: &http.Client{Transport: transport, Timeout: 30 * time.Second}, base: base, token: token}
}

// refusal is an answer that is no success.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.code, r.text) }

// codeOf is the status code of a refusal, 0 of all else.
func codeOf(err error) int {
	if refused, is := err.(*refusal); is {
		return refused.code
	}
	return 0
}

// call sends a body of this type and gives back the body of the answer. A refusal is an error.
func (a *api) call(method, path, kind string, body []byte) ([]byte, error) {
	request, err := http.NewRequest(method, a.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	request.Header.Set("Accept", "application/json")
	if len(body) > 0 {
		request.Header.Set("Content-Type", kind)
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	told, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= 300 {
		var status struct{ Message string }
		text := string(told)
		if json.Unmarshal(told, &status) == nil && status.Message != "" {
			text = status.Message
		}
		return nil, &refusal{answer.StatusCode, method + " " + path + ": " + text}
	}
	return told, nil
}

func (a *api) get(path string, into any) error {
	told, err := a.call("GET", path, "", nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(told, into)
}

// send calls with JSON.
func (a *api) send(method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	kind := "application/json"
	if method == "PATCH" {
		// Conditions are merged by their types: the evicted pod keeps the one that says so.
		kind = "application/strategic-merge-patch+json"
	}
	_, err = a.call(method, path, kind, text)
	return err
}

// plural has the path of the objects of each kind that is used here.
var plural = map[string]string{
	"Namespace":                "namespaces",
	"ConfigMap":                "configmaps",
	"Secret":                   "secrets",
	"Service":                  "services",
	"ServiceAccount":           "serviceaccounts",
	"Job":                      "jobs",
	"Deployment":               "deployments",
	"PodDisruptionBudget":      "poddisruptionbudgets",
	"CustomResourceDefinition": "customresourcedefinitions",
	"Role":                     "roles",
	"RoleBinding":              "rolebindings",
	"ClusterRole":              "clusterroles",
	"ClusterRoleBinding":       "clusterrolebindings",
	"TestRun":                  "testruns",
}

var (
	kindLine      = regexp.MustCompile(`(?m)^kind: *(\S+)`)
	versionLine   = regexp.MustCompile(`(?m)^apiVersion: *(\S+)`)
	namespaceLine = regexp.MustCompile(`(?m)^  namespace: *(\S+)`)
)

// apply creates each object of a YAML text, in this namespace unless the object names another. The server reads the YAML, as it does
// when kubectl creates something, so that what it would refuse is refused here.
func (a *api) apply(namespace, yaml string) error {
	for _, text := range strings.Split("\n"+yaml, "\n---") {
		kind := kindLine.FindStringSubmatch(text)
		version := versionLine.FindStringSubmatch(text)
		if kind == nil || version == nil {
			continue
		}
		name, known := plural[kind[1]]
		if !known {
			return fmt.Errorf("the kind %s is not among those of api.go", kind[1])
		}
		path := "/apis/" + version[1]
		if version[1] == "v1" {
			path = "/api/v1"
		}
		place := namespace
		if found := namespaceLine.FindStringSubmatch(text); found != nil {
			place = found[1]
		}
		isOfCluster := kind[1] == "Namespace" || kind[1] == "CustomResourceDefinition" || strings.HasPrefix(kind[1], "Cluster")
		if !isOfCluster {
			path += "/namespaces/" + place
		}
		// Unknown fields are errors, not warnings.
		path += "/" + name + "?fieldValidation=Strict"
		if _, err := a.call("POST", path, "application/yaml", []byte(text)); err != nil {
			return fmt.Errorf("%s: %w", kind[1], err)
		}
	}
	return nil
}

// until calls `is` each tenth of a second until it is true, or the time is over. What `is` waits for is told by its second result.
func until(ctx context.Context, patience time.Duration, is func() (bool, string)) error {
	end := time.Now().Add(patience)
	for {
		done, state := is()
		if done {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("after %v still not so: %s", patience, state)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w, and still not so: %s", ctx.Err(), state)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
