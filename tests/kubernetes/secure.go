package main

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// A broker that speaks TLS alone and wants a password: what leader and agents need to know of it comes out of a Secret.

const securePort = 4223

// startSecureNATS starts such a broker. The authority that vouches for its certificate, as PEM.
func startSecureNATS(folder string) (authority string, err error) {
	certificate, err := selfSigned()
	if err != nil {
		return "", err
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		return "", err
	}
	authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
	private := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	file := func(name string) string { return filepath.Join(folder, name) }
	config := fmt.Sprintf("host: %q\nport: %d\njetstream { store_dir: %q }\ntls { cert_file: %q, key_file: %q }\n"+
		"authorization { user: load, password: test }\n",
		nodeIP, securePort, "/run/secure-jetstream", file("nats.crt"), file("nats.key"))
	for name, text := range map[string]string{"nats.crt": authority, "nats.key": private, "nats.conf": config} {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	_, err = startPart(folder, "nats-server-tls", "nats-server", nil, "-c", file("nats.conf"))
	return authority, err
}

// machinesSecure: the test is whole over such a broker.
func machinesSecure(s *scene) (string, error) {
	authority, err := startSecureNATS(s.folder)
	if err != nil {
		return "", err
	}
	secret := map[string]any{"metadata": map[string]string{"name": "broker"}, "stringData": map[string]string{"authority.pem": authority}}
	if err := s.api.send("POST", s.path("secrets"), secret); err != nil {
		return "", err
	}
	s.broker = []string{
		"--nats", fmt.Sprintf("tls://load:test@%s:%d", nodeIP, securePort), "--nats-secret", "broker", "--nats-ca", "authority.pem",
	}
	if err := s.manifest(2, script(rate(20, 4)), 0); err != nil {
		return "", err
	}
	leader, agents, log, err := s.ends()
	if err != nil {
		return "", err
	}
	all, err := counted(log)
	return fmt.Sprintf("%v over TLS, its authority from a Secret", all), first(err, all.addUp(81, s.demo.pings()),
		expect(leader.has("Complete") && agents.has("Complete"), "both Jobs complete: %+v %+v", leader.Status, agents.Status))
}
