// Webhook receivers in Go with exactly one fault each (standard library only).
//
//	go run receivers.go --list
//	go run receivers.go --fault NAME --port N
//
// Secret and API key come from BLIND_SECRET and BLIND_API_KEY.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const maxBody = 12 << 20

type entry struct{ name, label, what string }

var faults = []entry{
	{"go-single-read", "must",
		"Reads the body with a single Read call, so a body that comes in several pieces is cut."},
	{"go-pool-buffer", "must",
		"Reuses one body buffer and never cuts it to the new length: old bytes stay behind a shorter body."},
	{"go-mac-not-reset", "must",
		"Shares one HMAC object and resets it only after a match, so one bad signature spoils all later ones."},
	{"go-absolute-form", "must",
		"Middleware looks at the raw request line for /hooks, so an absolute-form target is never checked."},
	{"go-type-secret", "must",
		"Takes the secret from a map by notification type; an unknown type is verified with an empty key."},
	{"go-recover-200", "must",
		"A signature that decodes to under 32 bytes panics, and the recover handler answers 200."},
	{"go-decode-prefix", "must",
		"Ignores the Base64 error and compares only as many bytes as were decoded, zero included."},
	{"go-lock-kept", "must",
		"Takes a mutex and does not release it when the payload is malformed: later deliveries hang."},
	{"go-slots-leak", "must",
		"A slot of a limited set is not given back after a 401, so after six failures nothing is answered."},
	{"go-goroutine-panic", "must",
		"A background goroutine asserts that data is an object; with anything else the process dies."},
	{"go-charset-bypass", "must",
		"Verifies only when Content-Type is exactly application/json; with a charset nothing is checked."},
	{"go-html-escape", "must",
		"HMAC over the HTML-escaped JSON, so valid bodies with <, > or & get 401."},
	{"go-int64-amount", "must",
		"Parses the atomic deposit amount as int64 and refuses larger amounts with 400."},
	{"go-millis-timestamp", "must",
		"Parses ISO timestamps with a layout that demands milliseconds, others get 400."},
	{"go-currency-length", "must",
		"Demands three-letter currency codes, so symbols such as USDT get 400."},
	{"go-unique-transaction", "must",
		"Unique index on transactionId: the next status of the same transaction gets 500."},
	{"go-id-cache", "must",
		"Answers 200 to any request whose notification id was processed before, ahead of all checks."},
	{"go-client-verify", "must",
		"Trusts a client-supplied X-SSL-Client-Verify: SUCCESS instead of signature and key."},
	{"go-expected-leak", "must",
		"The 401 answer to a bad signature names the expected signature."},
	{"go-inflight-skip", "must",
		"Leaves out the HMAC check while more than four requests are in flight."},
	{"go-wallet-redirect", "must",
		"WALLET notifications are redirected with 307 to another path."},
	{"go-oversize-skip", "must",
		"Bodies over 1 MiB are answered 200 (stored for later) before any check."},
	{"go-unknown-fields", "should",
		"Decodes with DisallowUnknownFields: an unknown envelope field gets 400."},
	{"go-missing-return", "blind",
		"Writes the 401 but has no return: the rejected notification is still stored."},
}

type receiver struct {
	fault     string
	secret    []byte
	apiKey    []byte
	mu        sync.Mutex
	pooled    []byte
	sharedMac hash.Hash
	seen      map[string]bool
	byTx      map[string]string
	stored    map[string][]byte
	slots     chan struct{}
	inFlight  int32
}

func (rc *receiver) is(name string) bool { return rc.fault == name }

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	out, _ := json.Marshal(map[string]string{"message": text})
	w.Write(append(out, '\n'))
}

var errTooLarge = errors.New("too large")

func (rc *receiver) readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	if rc.is("go-single-read") && r.ContentLength > 0 {
		buf := make([]byte, r.ContentLength)
		n, err := r.Body.Read(buf)
		if err != nil && err != io.EOF {
			return nil, err
		}
		return buf[:n], nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		return nil, errTooLarge
	}
	if rc.is("go-pool-buffer") {
		rc.mu.Lock()
		defer rc.mu.Unlock()
		if len(body) > len(rc.pooled) {
			rc.pooled = make([]byte, len(body))
		}
		copy(rc.pooled, body)
		return append([]byte(nil), rc.pooled...), nil
	}
	return body, nil
}

func (rc *receiver) secretFor(body []byte) []byte {
	if !rc.is("go-type-secret") {
		return rc.secret
	}
	secrets := map[string]string{}
	for _, t := range []string{"CAAS", "PAYMENT_METHOD", "REFUND", "CAAS_BLOCKCHAIN", "WALLET"} {
		secrets[t] = string(rc.secret)
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		return rc.secret
	}
	return []byte(secrets[head.Type])
}

func (rc *receiver) expected(body []byte) []byte {
	if rc.is("go-html-escape") {
		var escaped bytes.Buffer
		json.HTMLEscape(&escaped, body)
		body = escaped.Bytes()
	}
	mac := hmac.New(sha256.New, rc.secretFor(body))
	mac.Write(body)
	return mac.Sum(nil)
}

func (rc *receiver) signatureValid(r *http.Request, body []byte) bool {
	header := r.Header.Get("X-Service-Signature")
	if header == "" {
		return false
	}
	if rc.is("go-inflight-skip") && atomic.LoadInt32(&rc.inFlight) > 4 {
		return true
	}
	if rc.is("go-mac-not-reset") {
		rc.mu.Lock()
		defer rc.mu.Unlock()
		rc.sharedMac.Write(body)
		sum := base64.StdEncoding.EncodeToString(rc.sharedMac.Sum(nil))
		if !hmac.Equal([]byte(sum), []byte(header)) {
			return false
		}
		rc.sharedMac.Reset()
		return true
	}
	if rc.is("go-decode-prefix") {
		given, _ := base64.StdEncoding.DecodeString(header)
		expected := rc.expected(body)
		if len(given) > len(expected) {
			return false
		}
		return hmac.Equal(expected[:len(given)], given)
	}
	if rc.is("go-recover-200") {
		given, err := base64.StdEncoding.DecodeString(header)
		if err != nil {
			return false
		}
		sum := (*[32]byte)(given)
		return len(given) == 32 && hmac.Equal(rc.expected(body), sum[:])
	}
	expected := base64.StdEncoding.EncodeToString(rc.expected(body))
	return hmac.Equal([]byte(expected), []byte(header))
}

func (rc *receiver) authorised(r *http.Request, body []byte) bool {
	if rc.is("go-client-verify") {
		for _, name := range []string{"X-SSL-Client-Verify", "X-Client-Verify", "SSL-Client-Verify"} {
			if r.Header.Get(name) == "SUCCESS" {
				return true
			}
		}
	}
	if rc.is("go-absolute-form") && !strings.HasPrefix(r.RequestURI, "/hooks") {
		return true
	}
	if rc.is("go-charset-bypass") {
		contentType := r.Header.Get("Content-Type")
		media, params, _ := mime.ParseMediaType(contentType)
		if contentType != "application/json" && media == "application/json" && len(params) > 0 {
			return true
		}
	}
	signature := rc.signatureValid(r, body)
	key := hmac.Equal(rc.apiKey, []byte(r.Header.Get("X-API-KEY")))
	return signature && key
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/hooks" {
		answer(w, 404, "not found")
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		answer(w, 405, "method not allowed")
		return
	}
	if rc.is("go-recover-200") {
		defer func() {
			if problem := recover(); problem != nil {
				log.Printf("recovered: %v", problem)
				answer(w, 200, "ok")
			}
		}()
	}
	atomic.AddInt32(&rc.inFlight, 1)
	defer atomic.AddInt32(&rc.inFlight, -1)
	if rc.is("go-slots-leak") {
		rc.slots <- struct{}{}
	}
	body, err := rc.readBody(r)
	if err != nil {
		if rc.is("go-slots-leak") {
			<-rc.slots
		}
		w.Header().Set("Connection", "close")
		if err == errTooLarge {
			answer(w, 413, "too large")
		} else {
			answer(w, 400, "unreadable body")
		}
		return
	}
	if rc.is("go-oversize-skip") && len(body) > 1<<20 {
		answer(w, 200, "stored for later")
		return
	}
	if rc.is("go-id-cache") && rc.knownID(body) {
		answer(w, 200, "duplicate")
		return
	}
	if !rc.authorised(r, body) {
		if rc.is("go-expected-leak") && !rc.signatureValid(r, body) {
			answer(w, 401, "bad signature, expected "+base64.StdEncoding.EncodeToString(rc.expected(body)))
			return
		}
		answer(w, 401, "unauthorized")
		if rc.is("go-missing-return") {
			rc.store("rejected", body)
		}
		return
	}
	if rc.is("go-lock-kept") {
		rc.mu.Lock()
		status, text := rc.process(w, body)
		if status != 200 {
			answer(w, status, text)
			return
		}
		rc.mu.Unlock()
		answer(w, status, text)
		return
	}
	status, text := rc.process(w, body)
	if rc.is("go-slots-leak") {
		<-rc.slots
	}
	answer(w, status, text)
}

func (rc *receiver) knownID(body []byte) bool {
	var head struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(body, &head) != nil {
		return false
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return rc.seen[head.ID]
}

func (rc *receiver) store(id string, body []byte) {
	if !rc.is("go-lock-kept") {
		rc.mu.Lock()
		defer rc.mu.Unlock()
	}
	rc.seen[id] = true
	if len(rc.stored) > 200 {
		rc.stored = map[string][]byte{}
	}
	rc.stored[id] = body
}

type object = map[string]interface{}

func (rc *receiver) process(w http.ResponseWriter, body []byte) (int, string) {
	if !utf8.Valid(body) {
		return 400, "not UTF-8"
	}
	var note object
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&note); err != nil || note == nil {
		return 400, "malformed payload"
	}
	if _, err := decoder.Token(); err != io.EOF {
		return 400, "malformed payload"
	}
	if rc.is("go-unknown-fields") {
		var envelope struct {
			ID   interface{} `json:"id"`
			Type interface{} `json:"type"`
			At   interface{} `json:"at"`
			Data interface{} `json:"data"`
		}
		strict := json.NewDecoder(bytes.NewReader(body))
		strict.DisallowUnknownFields()
		if err := strict.Decode(&envelope); err != nil {
			return 400, "unknown field"
		}
	}
	if rc.is("go-goroutine-panic") {
		go func() {
			data := note["data"].(object)
			log.Printf("processed %v", data["transactionId"])
		}()
		return 200, "ok"
	}
	if problem := rc.validate(note); problem != "" {
		return 400, problem
	}
	id, _ := note["id"].(string)
	data := note["data"].(object)
	if rc.is("go-wallet-redirect") && note["type"] == "WALLET" {
		w.Header().Set("Location", "/hooks/wallet")
		return 307, "moved"
	}
	if rc.is("go-unique-transaction") && note["type"] == "CAAS" {
		tx, _ := data["transactionId"].(string)
		rc.mu.Lock()
		first, taken := rc.byTx[tx]
		if !taken {
			rc.byTx[tx] = id
		}
		rc.mu.Unlock()
		if taken && first != id {
			return 500, "duplicate key value violates unique constraint"
		}
	}
	rc.store(id, body)
	return 200, "ok"
}

var (
	wholeNumber = regexp.MustCompile(`^[0-9]+$`)
	decimalText = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
)

// badString reports the first of the named fields that is there and is neither a string nor null.
func badString(o object, names ...string) string {
	for _, name := range names {
		if value, there := o[name]; there && value != nil {
			if _, ok := value.(string); !ok {
				return name + " must be a string"
			}
		}
	}
	return ""
}

func badError(data object) string {
	value, there := data["errorData"]
	if !there || value == nil {
		return ""
	}
	detail, ok := value.(object)
	if !ok {
		return "errorData must be an object"
	}
	return badString(detail, "code", "message")
}

func (rc *receiver) badTime(kind string, at interface{}) string {
	switch kind {
	case "CAAS", "PAYMENT_METHOD", "REFUND":
		number, ok := at.(json.Number)
		if !ok {
			return "at must be an integer"
		}
		if _, err := strconv.ParseInt(number.String(), 10, 64); err != nil {
			return "at must be an integer"
		}
	case "WALLET", "CAAS_BLOCKCHAIN":
		text, ok := at.(string)
		if !ok {
			return "at must be a string"
		}
		layout := time.RFC3339
		if rc.is("go-millis-timestamp") {
			layout = "2006-01-02T15:04:05.000Z07:00"
		}
		if _, err := time.Parse(layout, text); err != nil {
			return "at must be a timestamp"
		}
	}
	return ""
}

func (rc *receiver) badCurrency(o object) string {
	if text, ok := o["currency"].(string); ok && rc.is("go-currency-length") && len(text) != 3 {
		return "currency must have three letters"
	}
	return badString(o, "currency")
}

func first(problems ...string) string {
	for _, problem := range problems {
		if problem != "" {
			return problem
		}
	}
	return ""
}

func (rc *receiver) validate(note object) string {
	kind, ok := note["type"].(string)
	if !ok || kind == "" {
		return "type must be a string"
	}
	if _, there := note["id"]; !there {
		return "id is missing"
	}
	data, ok := note["data"].(object)
	if !ok {
		return "data must be an object"
	}
	if problem := first(badString(note, "id"), rc.badTime(kind, note["at"]), badError(data)); problem != "" {
		return problem
	}
	metadata, isObject := data["metadata"].(object)
	switch kind {
	case "CAAS":
		if _, ok := data["type"].(string); !ok || !isObject {
			return "data.type and data.metadata are required"
		}
		chainData := object{}
		if value := metadata["blockchainData"]; value != nil {
			if chainData, ok = value.(object); !ok {
				return "blockchainData must be an object"
			}
		}
		return first(badString(data, "providerId", "transactionId"), rc.badCurrency(chainData),
			badString(metadata, "orderStatus", "orderType", "providerTransactionId", "providerTransactionRef",
				"providerTransactionStatus", "trackingStateDescription"),
			badString(chainData, "targetWalletAddress", "blockchainTransactionId", "blockchainMemo", "chain",
				"refundWalletAddress", "sourceWalletAddress"))
	case "REFUND":
		if !isObject {
			return "data.metadata is required"
		}
		if amount, ok := metadata["amount"].(string); ok && !decimalText.MatchString(amount) {
			return "amount must be decimal text"
		}
		return first(badString(data, "providerId", "transactionId", "status"), rc.badCurrency(metadata),
			badString(metadata, "blockchainTransactionId", "amount", "walletAddress"))
	case "PAYMENT_METHOD":
		return badString(data, "status", "paymentMethodId", "accountId", "errorCode")
	case "WALLET":
		return badString(data, "operation", "customerId", "walletAddress", "assetId", "chain")
	case "CAAS_BLOCKCHAIN":
		asset, ok := metadata["asset"].(object)
		if !isObject || !ok {
			return "metadata.asset is required"
		}
		if amount, ok := asset["amount"].(string); ok {
			if !wholeNumber.MatchString(amount) {
				return "amount must be a whole number"
			}
			if rc.is("go-int64-amount") {
				if _, err := strconv.ParseInt(amount, 10, 64); err != nil {
					return "amount out of range"
				}
			}
		}
		return first(badString(data, "type", "status", "partnerTransactionId", "customerId"),
			badString(metadata, "sourceAddress", "destinationAddress", "blockchainTransactionId",
				"blockchainTransctionId"), badString(asset, "amount"), rc.badCurrency(asset))
	}
	return ""
}

func main() {
	list := flag.Bool("list", false, "list the faults")
	fault := flag.String("fault", "none", "fault to serve")
	port := flag.Int("port", 8080, "port")
	flag.Parse()
	if *list {
		for _, f := range faults {
			fmt.Printf("%s\t%s\t%s\n", f.name, f.label, f.what)
		}
		return
	}
	known := *fault == "none"
	for _, f := range faults {
		known = known || f.name == *fault
	}
	if !known {
		log.Fatalf("unknown fault %q", *fault)
	}
	secret := []byte(os.Getenv("BLIND_SECRET"))
	rc := &receiver{
		fault: *fault, secret: secret, apiKey: []byte(os.Getenv("BLIND_API_KEY")),
		sharedMac: hmac.New(sha256.New, secret), seen: map[string]bool{}, byTx: map[string]string{},
		stored: map[string][]byte{}, slots: make(chan struct{}, 6),
	}
	if len(rc.secret) == 0 || len(rc.apiKey) == 0 {
		log.Fatal("BLIND_SECRET and BLIND_API_KEY must be set")
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	log.Fatal((&http.Server{Handler: rc}).Serve(listener))
}
