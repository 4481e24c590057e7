package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The processes of the control plane, and those beside it. All of them are in the process namespace of this program, and end with it.

const (
	adminToken    = "administrator"
	operatorToken = "operator"
	server        = "https://" + nodeIP + ":6443"
)

// part is a process that runs as long as the test does.
type part struct {
	name    string
	command *exec.Cmd
	ended   chan struct{}
}

var (
	partsMutex sync.Mutex
	parts      []*part
)

// startPart starts a program; what it writes goes to NAME.log in the folder.
func startPart(folder, name, program string, environment []string, words ...string) (*part, error) {
	log, err := os.Create(filepath.Join(folder, name+".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := exec.Command(program, words...)
	command.Stdout, command.Stderr, command.Dir = log, log, folder
	command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder}, environment...)
	return watch(name, command)
}

func watch(name string, command *exec.Cmd) (*part, error) {
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &part{name: name, command: command, ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(p.ended)
	}()
	partsMutex.Lock()
	parts = append(parts, p)
	partsMutex.Unlock()
	return p, nil
}

func stopParts() {
	partsMutex.Lock()
	defer partsMutex.Unlock()
	for _, p := range parts {
		_ = p.command.Process.Signal(syscall.SIGKILL)
		<-p.ended
	}
}

// startControlPlane starts etcd, the API server and the controllers, and waits until the server is ready.
func startControlPlane(ctx context.Context, binaries, folder string) (*api, error) {
	if err := writeCredentials(folder); err != nil {
		return nil, err
	}
	file := func(name string) string { return filepath.Join(folder, name) }
	if _, err := startPart(folder, "etcd", filepath.Join(binaries, "etcd"), nil,
		// Nothing of this outlives the test: it is in memory, so that a busy disk stops no one.
		"--unsafe-no-fsync", "--data-dir", "/run/etcd", "--log-level", "warn",
		"--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
		"--listen-peer-urls", "http://127.0.0.1:2380"); err != nil {
		return nil, err
	}
	apiServer, err := startPart(folder, "kube-apiserver", filepath.Join(binaries, "kube-apiserver"), nil,
		"--etcd-servers", "http://127.0.0.1:2379", "--bind-address", nodeIP, "--advertise-address", nodeIP,
		"--secure-port", "6443", "--cert-dir", file("certificates"), "--token-auth-file", file("tokens.csv"),
		"--authorization-mode", "RBAC", "--service-cluster-ip-range", services,
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", file("key.pem"), "--service-account-signing-key-file", file("key.pem"),
		"--kubelet-preferred-address-types", "InternalIP")
	if err != nil {
		return nil, err
	}
	it := newAPI(server, adminToken)
	err = until(ctx, time.Minute, func() (bool, string) {
		select {
		case <-apiServer.ended:
			return true, ""
		default:
		}
		_, err := it.call("GET", "/readyz", "", nil)
		return err == nil, fmt.Sprint("the API server is ready: ", err)
	})
	if _, refused := it.call("GET", "/readyz", "", nil); err != nil || refused != nil {
		return nil, fmt.Errorf("the API server did not start (%v, %v): %s", err, refused, tail(file("kube-apiserver.log"), 5))
	}
	_, err = startPart(folder, "kube-controller-manager", filepath.Join(binaries, "kube-controller-manager"), nil,
		"--kubeconfig", file("kubeconfig"), "--authentication-skip-lookup", "--leader-elect=false", "--secure-port=0",
		"--controllers=job-controller,disruption-controller,serviceaccount-controller,garbage-collector-controller,namespace-controller")
	return it, err
}

func writeCredentials(folder string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	// The operator has the rights of its own roles and no others.
	tokens := adminToken + ",admin,1,system:masters\n" +
		operatorToken + ",system:serviceaccount:k6-operator-system:k6-operator-controller,2,system:serviceaccounts\n"
	kubeconfig := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"it",
"contexts":[{"name":"it","context":{"cluster":"it","user":"it"}}],"users":[{"name":"it","user":{"token":%q}}],
"clusters":[{"name":"it","cluster":{"server":%q,"insecure-skip-tls-verify":true}}]}`, adminToken, server)
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for name, text := range map[string]string{"tokens.csv": tokens, "kubeconfig": kubeconfig, "key.pem": string(private)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// startOperator installs the k6-operator's own objects and starts it as its Deployment would: it finds the server by its variables,
// and itself by the files of its service account.
func startOperator(ctx context.Context, it *api, binaries, folder string) error {
	bundle, err := os.ReadFile(filepath.Join(binaries, "k6-operator.yaml"))
	if err != nil {
		return err
	}
	if err := it.apply("k6-operator-system", string(bundle)); err != nil {
		return err
	}
	err = until(ctx, time.Minute, func() (bool, string) {
		_, err := it.call("GET", "/apis/k6.io/v1alpha1/testruns", "", nil)
		return err == nil, fmt.Sprint("the API server knows TestRuns: ", err)
	})
	if err != nil {
		return err
	}
	account := "/run/secrets/kubernetes.io/serviceaccount"
	authority, err := os.ReadFile(filepath.Join(folder, "certificates", "apiserver.crt"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(account, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"token": operatorToken, "ca.crt": string(authority), "namespace": "k6-operator-system"} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	_, err = startPart(folder, "k6-operator", filepath.Join(binaries, "k6-operator"),
		[]string{"KUBERNETES_SERVICE_HOST=" + nodeIP, "KUBERNETES_SERVICE_PORT=6443"}, "--metrics-bind-address=0")
	return err
}

func startNATS(folder string) error {
	_, err := startPart(folder, "nats-server", "nats-server", nil, "-a", nodeIP, "-p", "4222", "-js", "-sd", "/run/jetstream")
	return err
}

// demo is a demo target of its own for a scenario: it counts what reaches it.
type demo struct {
	url string
}

func startDemo(brunt string, port int) (*demo, error) {
	command := exec.Command(brunt, "demo", "--json", "--seed", "1", "--listen", fmt.Sprintf("%s:%d", nodeIP, port))
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return nil, err
	}
	var told struct{ URL string }
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &told)
	}
	if err != nil {
		return nil, fmt.Errorf("the demo target: %w: %q", err, line)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return &demo{url: told.URL}, nil
}

// pings is how often /ping was asked for so far.
func (d *demo) pings() int {
	told, err := run("curl", "-sS", d.url+"/_demo/stats")
	if err != nil {
		return -1
	}
	var stats struct {
		Requests struct {
			ByRoute map[string]map[string]int `json:"by_route"`
		}
	}
	if err := json.Unmarshal([]byte(told), &stats); err != nil {
		return -1
	}
	return stats.Requests.ByRoute["/ping"]["200"]
}

// tail is the last lines of a file.
func tail(path string, count int) string {
	text, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}
