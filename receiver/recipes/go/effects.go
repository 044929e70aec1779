//go:build ignore

// The effects window, for test environments only: what the receiver stored, by its journal. `go run effects.go`
// Environment: WEBHOOK_EFFECTS_TOKEN (16 characters or more), WEBHOOK_EFFECTS_PORT (3001), WEBHOOK_JOURNAL.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
)

var decimals = map[string]int{"BTC": 8, "ETH": 18, "USDC": 6, "GUSD": 2, "NEO": 0}

// Where `data` has a value: the first place that is filled.
var places = map[string][]string{
	"status":      {"metadata.orderStatus", "metadata.providerTransactionStatus", "status"},
	"transaction": {"transactionId", "partnerTransactionId"},
	"hash": {"metadata.blockchainData.blockchainTransactionId", "metadata.blockchainTransactionId",
		"metadata.blockchainData.blockchainTransctionId", "metadata.blockchainTransctionId"},
	"amount":    {"metadata.asset.amount", "metadata.amount"},
	"currency":  {"metadata.asset.currency", "metadata.currency", "metadata.blockchainData.currency"},
	"errorCode": {"errorData.code", "errorCode"},
}

func handling(line string) map[string]string {
	var entry struct{ Body string }
	var notification map[string]any // A struct would take keys in another letter case too.
	if json.Unmarshal([]byte(line), &entry) != nil || json.Unmarshal([]byte(entry.Body), &notification) != nil {
		log.Fatal("The journal has a line that is not a notification.")
	}
	values := map[string]string{"notification": filled(notification, "id"), "kind": filled(notification, "type")}
	if kind := filled(notification, "data.type"); values["kind"] == "CAAS" && kind != "" {
		values["kind"] = "CAAS_" + kind
	}
	for name, paths := range places {
		for at := 0; at < len(paths) && values[name] == ""; at++ {
			values[name] = filled(notification, "data."+paths[at])
		}
	}
	if atomic := filled(notification, "data.metadata.asset.amount"); atomic != "" {
		values["amount"] = displayAmount(atomic, values["currency"])
	}
	for name, value := range values {
		if value == "" {
			delete(values, name)
		}
	}
	return values
}

func filled(value any, path string) string {
	for _, key := range strings.Split(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	text, _ := value.(string)
	return text
}

// displayAmount moves the point in the text: a float would lose digits. An unknown asset has no amount.
func displayAmount(atomic, currency string) string {
	places, isKnown := decimals[currency]
	if !isKnown || strings.Trim(atomic, "0123456789") != "" {
		return ""
	}
	if missing := places + 1 - len(atomic); missing > 0 {
		atomic = strings.Repeat("0", missing) + atomic
	}
	point := len(atomic) - places
	return strings.TrimSuffix(strings.TrimRight(atomic[:point]+"."+atomic[point:], "0"), ".")
}

var query = regexp.MustCompile(`^/effects\?(notification|transaction)=([^&=]+)$`)

// answer has the status and the JSON for a request.
func answer(r *http.Request, token, journal string) (int, any) {
	received, expected := sha256.Sum256([]byte(r.Header.Get("Authorization"))), sha256.Sum256([]byte("Bearer "+token))
	if !hmac.Equal(received[:], expected[:]) {
		return http.StatusUnauthorized, map[string]string{"error": "unauthorized"}
	}
	asked := query.FindStringSubmatch(r.RequestURI)
	if r.Method != http.MethodGet || asked == nil || strings.Count(asked[2], ",") >= 50 {
		return http.StatusBadRequest, map[string]string{"error": "not a query"}
	}
	ids := map[string]bool{}
	for _, part := range strings.Split(asked[2], ",") {
		id, _ := url.PathUnescape(part)
		ids[id] = true
	}
	content, err := os.ReadFile(journal)
	if err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	lines = lines[:len(lines)-1] // What follows the last line is being written.
	handled := []map[string]string{}
	for _, line := range lines {
		if one := handling(line); one[asked[1]] != "" && ids[one[asked[1]]] {
			handled = append(handled, one)
		}
	}
	return http.StatusOK, map[string]any{"total": len(lines), "handled": handled}
}

func main() {
	token, journal := os.Getenv("WEBHOOK_EFFECTS_TOKEN"), env("WEBHOOK_JOURNAL", "journal.ndjson")
	if len(token) < 16 {
		log.Fatal("Set WEBHOOK_EFFECTS_TOKEN to 16 characters or more.")
	}
	address := "127.0.0.1:" + env("WEBHOOK_EFFECTS_PORT", "3001")
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		status, value := answer(r, token, journal)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(value)
	})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("effects on http://%s/effects\n", address)
	log.Fatal(http.Serve(listener, nil))
}

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
