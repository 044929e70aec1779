// Receives signed notifications with net/http: verifies the raw body, appends it to a journal on disk, answers 200.
//
// Start it with `go run .` (Go 1.19 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of them;
// the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
// One process only: the known ids are in memory. For several, use a database with a unique key on the id.
package main

import (
	"bytes"
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
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

var secret, apiKey = os.Getenv("WEBHOOK_SECRET"), os.Getenv("WEBHOOK_API_KEY")

func main() {
	if secret == "" && apiKey == "" {
		log.Fatal("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")
	}
	address := net.JoinHostPort(env("HOST", "127.0.0.1"), env("PORT", "3000"))
	http.Handle("/hooks", openJournal(env("WEBHOOK_JOURNAL", "journal.ndjson")))
	listener := must(net.Listen("tcp", address))
	fmt.Printf("listening on http://%s/hooks\n", address)
	log.Fatal((&http.Server{ReadTimeout: 30 * time.Second}).Serve(listener))
}

// Journal is a file with one line of JSON per notification, and the ids of those lines.
type Journal struct {
	mutex sync.Mutex
	file  *os.File
	size  int64
	ids   map[string]bool
}

type entry struct {
	ID         string    `json:"id"`
	ReceivedAt time.Time `json:"receivedAt"`
	Body       string    `json:"body"`
}

func (j *Journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, "body too large", http.StatusRequestEntityTooLarge)
	} else if !isAuthentic(r.Header, body) {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	} else if id, ok := notificationID(body); !ok {
		http.Error(w, "not a notification", http.StatusBadRequest)
	} else if err := j.store(entry{id, time.Now().UTC(), string(body)}); err != nil {
		log.Print(err)
		http.Error(w, "not stored", http.StatusServiceUnavailable) // The sender may deliver it again.
	}
}

func isAuthentic(header http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	isSigned := secret == "" || isSame(header.Values("X-Service-Signature"), signature)
	return isSigned && (apiKey == "" || isSame(header.Values("X-API-Key"), apiKey))
}

// isSame requires exactly one line of the header. It compares digests: in constant time, whatever the lengths.
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
	isID := id != "" && len(id) <= 200 && strings.IndexFunc(id, unicode.IsControl) == -1
	return id, isID && kind != "" && hasData
}

func openJournal(name string) *Journal {
	file := must(os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600))
	content := must(io.ReadAll(file))
	end := bytes.LastIndexByte(content, '\n') + 1
	j := &Journal{file: file, size: int64(end), ids: map[string]bool{}}
	for decoder := json.NewDecoder(bytes.NewReader(content[:end])); decoder.More(); {
		var stored entry
		if err := decoder.Decode(&stored); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		j.ids[stored.ID] = true
	}
	// What follows the last line was being written when the process was killed.
	if file.Truncate(j.size) != nil || file.Sync() != nil {
		log.Fatalf("%s cannot be written", name)
	}
	return j
}

// store returns nil when the entry is on disk. A copy adds no line.
func (j *Journal) store(e entry) error {
	line := append(must(json.Marshal(e)), '\n')
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.ids[e.ID] {
		return nil
	}
	_, err := j.file.WriteAt(line, j.size)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.file.Truncate(j.size)
		return err
	}
	j.size += int64(len(line))
	j.ids[e.ID] = true
	return nil
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
