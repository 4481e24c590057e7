package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// serveLogs answers the API server when it is asked for the log of a pod: what has been written by then. It does not follow.
func (k *kubelet) serveLogs() error {
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	listener, err := tls.Listen("tcp", nodeIP+":10250", &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(answer http.ResponseWriter, asked *http.Request) {
		var newest *life
		for _, l := range k.find(asked.PathValue("namespace"), asked.PathValue("pod")) {
			if l.pod.Metadata.Name == asked.PathValue("pod") && (newest == nil || l.began.After(newest.began)) {
				newest = l
			}
		}
		if newest == nil {
			http.Error(answer, "the stand-in knows no such pod", http.StatusNotFound)
			return
		}
		_, _ = answer.Write(newest.log())
	})
	go func() { _ = http.Serve(listener, routes) }()
	return nil
}

// log is all that the pod has written.
func (l *life) log() []byte {
	text, _ := os.ReadFile(filepath.Join(l.folder, "log"))
	return text
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stand-in"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.ParseIP(nodeIP)},
	}
	text, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}, err
}
