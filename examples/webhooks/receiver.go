// A receiver of fetchd's webhooks in Go, with the standard library only.
//
//	WEBHOOK_SECRET=whsec_... go run examples/webhooks/receiver.go 9000
//
// It verifies each request and prints its event. To use it in your program, copy IsGenuine.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Older requests are refused, so that a recorded request cannot be used again later.
const tolerance = 5 * time.Minute

const largestBody = 1 << 20

// IsGenuine reports whether fetchd has signed this body. id, timestamp and signatures are the values of webhook-id,
// webhook-timestamp and webhook-signature. body has the unchanged bytes.
func IsGenuine(secret, id, timestamp, signatures string, body []byte, now time.Time) bool {
	seconds, err := strconv.ParseUint(timestamp, 10, 36)
	if err != nil || now.Sub(time.Unix(int64(seconds), 0)).Abs() > tolerance {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return false
	}
	code := hmac.New(sha256.New, key)
	fmt.Fprintf(code, "%s.%s.", id, timestamp)
	code.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(code.Sum(nil)))
	isGenuine := false
	// During a rotation, there is one signature for each secret. hmac.Equal compares in constant time.
	for _, signature := range strings.Split(signatures, " ") {
		if hmac.Equal([]byte(signature), expected) {
			isGenuine = true
		}
	}
	return isGenuine
}

type receiver struct {
	secret string
	lock   sync.Mutex
	// A table with a unique key in your program: it must survive a restart.
	seen map[string]bool
}

func (r *receiver) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, largestBody))
	if err != nil {
		response.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	id := request.Header.Get("webhook-id")
	timestamp, signatures := request.Header.Get("webhook-timestamp"), request.Header.Get("webhook-signature")
	if !IsGenuine(r.secret, id, timestamp, signatures, body, time.Now()) {
		response.WriteHeader(http.StatusUnauthorized)
		return
	}
	var event struct{ Type string }
	if err := json.Unmarshal(body, &event); err != nil {
		response.WriteHeader(http.StatusBadRequest)
		return
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	// fetchd delivers at least once, and repeats the id.
	if !r.seen[id] {
		r.seen[id] = true
		fmt.Println("verified", event.Type)
	}
	response.WriteHeader(http.StatusNoContent)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening on port", listener.Addr().(*net.TCPAddr).Port)
	server := http.Server{
		Handler:     &receiver{secret: os.Getenv("WEBHOOK_SECRET"), seen: map[string]bool{}},
		ReadTimeout: 30 * time.Second,
	}
	fmt.Fprintln(os.Stderr, server.Serve(listener))
	os.Exit(1)
}
