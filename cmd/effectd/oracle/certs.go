// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// certificate is a self-signed certificate that is its own root.
type certificate struct {
	tls tls.Certificate
	pem []byte
}

// setupTLS makes the certificate that the configuration asks for.
func (s *Server) setupTLS() error {
	if s.cfg.TLS == TLSOff {
		return nil
	}
	now := s.cfg.Now()
	until := now.AddDate(1, 0, 0)
	names := []string{"localhost"}
	ips := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	switch s.cfg.TLS {
	case TLSExpired:
		until = now.AddDate(0, 0, -1)
	case TLSWrongName:
		names, ips = []string{"wrong.invalid"}, nil
	}
	cert, err := selfSigned(now.AddDate(-1, 0, 0), until, names, ips)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	s.cert = cert
	s.tls = &tls.Config{Certificates: []tls.Certificate{cert.tls}}
	if s.cfg.HTTP == HTTP2 {
		s.tls.NextProtos = []string{"h2"}
	}
	return nil
}

func selfSigned(from, until time.Time, names []string, ips []net.IP) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(from.UnixNano()),
		Subject:               pkix.Name{CommonName: "effectd"},
		NotBefore:             from,
		NotAfter:              until,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              names,
		IPAddresses:           ips,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &certificate{
		tls: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	}, nil
}
