// Receives signed notifications with net/http: verifies the raw body, appends it to a journal on disk, and answers 200.
//
// Start it with `go run .` (Go 1.19 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of them;
// the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
// Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	maxBodyBytes   = 1 << 20
	maxConnections = 512 // Each can make the process hold one body.
)

var secret, apiKey = os.Getenv("WEBHOOK_SECRET"), os.Getenv("WEBHOOK_API_KEY")

// During a rotation, the previous secret is also valid.
var previous = os.Getenv("WEBHOOK_PREVIOUS_SECRET")

func main() {
	if secret == "" && apiKey == "" {
		log.Fatal("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")
	}
	journal, err := openJournal(env("WEBHOOK_JOURNAL", "journal.ndjson"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/hooks", journal.receive)
	address := net.JoinHostPort(env("HOST", "127.0.0.1"), env("PORT", "3000"))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/hooks\n", address)
	slots := make(chan struct{}, maxConnections)
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second, // from the end of the head
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				<-slots
			}
		},
	}
	log.Fatal(server.Serve(limitedListener{listener, slots}))
}

// limitedListener accepts a connection only when there is a slot for it. The server frees the slot.
type limitedListener struct {
	net.Listener
	slots chan struct{}
}

func (l limitedListener) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	connection, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
	}
	return connection, err
}

func (j *Journal) receive(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	if err != nil {
		http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
	} else if !isAuthentic(r.Header, body) {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	} else if id, ok := notificationID(body); !ok {
		http.Error(w, "not a notification", http.StatusBadRequest)
	} else if err := j.Store(id, body); err != nil {
		log.Print(err)
		http.Error(w, "not stored", http.StatusServiceUnavailable) // The sender can deliver it again.
	}
}

func isAuthentic(header http.Header, body []byte) bool {
	isSigned := secret == "" && previous == ""
	for _, one := range []string{secret, previous} {
		mac := hmac.New(sha256.New, []byte(one))
		mac.Write(body)
		signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
		// Anyone can sign with an empty secret.
		isSigned = isSame(header.Values("X-Service-Signature"), signature) && one != "" || isSigned
	}
	return isSigned && (apiKey == "" || isSame(header.Values("X-API-Key"), apiKey))
}

// isSame requires exactly one line of the header. It compares digests, so that the time does not depend on the lengths.
func isSame(received []string, expected string) bool {
	a, b := sha256.Sum256([]byte(strings.Join(received, "\n"))), sha256.Sum256([]byte(expected))
	return len(received) == 1 && hmac.Equal(a[:], b[:])
}

// notificationID returns the id of a notification. Unknown types and fields are accepted.
func notificationID(body []byte) (id string, ok bool) {
	var notification map[string]any
	if !utf8.Valid(body) || json.Unmarshal(body, &notification) != nil {
		return "", false
	}
	id, _ = notification["id"].(string)
	kind, _ := notification["type"].(string)
	_, hasData := notification["data"].(map[string]any)
	// encoding/json reads an unpaired surrogate as RuneError, so two ids would become one.
	isText := strings.IndexFunc(id, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) == -1
	return id, isText && id != "" && len(id) <= 200 && kind != "" && hasData
}

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
