// Thirty webhook receivers with one fault each, and the correct one (--fault none).
//
//	go run receivers.go --list
//	go run receivers.go --fault NAME --port N
//
// The secret and the API key come from BLIND_SECRET and BLIND_API_KEY. Standard library only, Go 1.19.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	hookPath  = "/hooks"
	maxBody   = 12 << 20
	keyName   = "X-API-KEY"
	signName  = "X-Service-Signature"
	signChars = 44
)

type entry struct{ name, label, what string }

var faults = []entry{
	{"chunked-unsigned", "must",
		"Takes an unknown content length (chunked) for an empty body and skips the signature check."},
	{"sig-prefix", "must",
		"Compares the signature with strings.HasPrefix, so any non-empty beginning of the right one passes."},
	{"sig-legacy-sha1", "must",
		"Still accepts an HMAC-SHA1 value (20 bytes) from an older version of the integration."},
	{"empty-previous-secret", "must",
		"Also tries the previous secret, which is unset, so a signature made with an empty key passes."},
	{"sig-cache", "must", "Remembers verified signature values and accepts them again without looking at the body."},
	{"seen-id-first", "must", "Answers 200 for an already seen notification id before any credential is checked."},
	{"conn-trusted", "must", "After one accepted delivery, later requests on the same connection are not checked."},
	{"key-map-lookup", "must",
		"Looks up the API key under a non-canonical map key, never finds it, and so never compares it."},
	{"put-unchecked", "must", "Routes PUT to the processing function without the authentication in front of it."},
	{"query-bypass", "must",
		"Checks credentials only if the raw request URI equals /hooks, so an added query skips the check."},
	{"gzip-unchecked", "must", "Unpacks gzip bodies in a branch of their own, which processes them without any check."},
	{"wallet-unsigned", "must",
		"Does not check the signature of WALLET notifications, as they are only informational."},
	{"recover-200", "must",
		"Slices the signature header to 44 characters and recovers from the panic without a status, so 200."},
	{"localhost-host", "must", "Switches to development mode without checks when the Host header says localhost."},
	{"http10-health", "must", "Takes every HTTP/1.0 request for a load balancer's health check and answers 200."},
	{"sig-over-compact", "must",
		"Signs the compacted JSON and not the raw bytes, so white space is refused or can be added."},
	{"single-read", "must", "Reads the body with a single Read into 4096 bytes, so longer bodies are cut and refused."},
	{"hmac-not-reset", "must",
		"Shares one HMAC object that is reset only after a match, so one bad signature breaks all later ones."},
	{"error-code-pattern", "must",
		"Requires three digits in the middle group of an error code, so 152-99-S2 is refused with 400."},
	{"deposit-hash-required", "must",
		"Requires the correctly spelt blockchainTransactionId in a deposit and refuses others with 400."},
	{"wallet-202", "must", "Answers 202 and not 200 to WALLET notifications, because they are queued."},
	{"fixed-buffer-panic", "must",
		"Decodes the signature into 32 bytes, so a longer value panics and the connection is dropped."},
	{"worker-dies", "must", "The only worker ends at an unknown type, so every later signed delivery blocks forever."},
	{"mutex-left", "must",
		"Returns from the malformed payload branch with the mutex locked, so later deliveries hang."},
	{"refund-fail-panic", "must",
		"Asserts a string transaction id in refund metadata and panics on failed refunds without one."},
	{"emoji-500", "must", "Stores text in a three-byte UTF-8 column, so a four-byte character gives 500."},
	{"lockout-global", "must", "After ten failed checks from anywhere, answers 403 to everybody for ten minutes."},
	{"duplicate-409", "should", "Answers 409 when a notification id comes a second time."},
	{"plain-compare", "blind", "Compares key and signature with == and not in constant time."},
	{"process-before-auth", "blind",
		"Stores the notification before the credentials are checked, and then answers 401."},
}

type connKey struct{}

type receiver struct {
	fault    string
	secret   string
	apiKey   string
	mu       sync.Mutex
	seen     map[string]bool
	sigMu    sync.Mutex
	sigCache map[string]bool
	mac      hash.Hash
	busy     sync.Mutex
	queue    chan string
	failures int32
	blocked  atomic.Value
}

func (rc *receiver) is(name string) bool { return rc.fault == name }

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"result\":%q}\n", text)
}

func unauthorised(w http.ResponseWriter) { answer(w, http.StatusUnauthorized, "unauthorized") }

// ---- request handling ----------------------------------------------------------------------------

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if rc.is("recover-200") {
		defer func() {
			if problem := recover(); problem != nil {
				log.Printf("recovered: %v", problem)
			}
		}()
	}
	if r.URL.Path != hookPath {
		answer(w, http.StatusNotFound, "not found")
		return
	}
	if rc.is("http10-health") && r.ProtoMajor == 1 && r.ProtoMinor == 0 {
		answer(w, http.StatusOK, "healthy")
		return
	}
	if rc.is("lockout-global") {
		if until, ok := rc.blocked.Load().(time.Time); ok && time.Now().Before(until) {
			answer(w, http.StatusForbidden, "blocked")
			return
		}
	}
	unchecked := rc.is("put-unchecked") && r.Method == http.MethodPut
	if r.Method != http.MethodPost && !unchecked {
		w.Header().Set("Allow", "POST")
		answer(w, http.StatusMethodNotAllowed, "method not allowed")
		return
	}
	body, err := rc.readBody(r)
	if errors.Is(err, errTooLarge) {
		answer(w, http.StatusRequestEntityTooLarge, "too large")
		return
	}
	if err != nil {
		answer(w, http.StatusBadRequest, "body not readable")
		return
	}
	if rc.is("gzip-unchecked") && r.Header.Get("Content-Encoding") == "gzip" {
		plain, err := unpack(body)
		if err != nil {
			answer(w, http.StatusBadRequest, "bad gzip data")
			return
		}
		rc.process(w, plain)
		return
	}
	if rc.is("seen-id-first") && rc.alreadySeen(peek(body, "id")) {
		answer(w, http.StatusOK, "already processed")
		return
	}
	if rc.is("process-before-auth") {
		rc.remember(peek(body, "id"))
	}
	if !unchecked && !rc.trusted(r) && !rc.authorised(r, body) {
		if rc.is("lockout-global") && atomic.AddInt32(&rc.failures, 1) >= 10 {
			rc.blocked.Store(time.Now().Add(10 * time.Minute))
		}
		unauthorised(w)
		return
	}
	if mark, ok := r.Context().Value(connKey{}).(*int32); ok {
		atomic.StoreInt32(mark, 1)
	}
	rc.process(w, body)
}

// trusted says whether the checks are skipped; the correct receiver skips none.
func (rc *receiver) trusted(r *http.Request) bool {
	switch rc.fault {
	case "query-bypass":
		return r.RequestURI != hookPath
	case "localhost-host":
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		return host == "localhost"
	case "conn-trusted":
		mark, ok := r.Context().Value(connKey{}).(*int32)
		return ok && atomic.LoadInt32(mark) == 1
	}
	return false
}

var errTooLarge = errors.New("body too large")

func (rc *receiver) readBody(r *http.Request) ([]byte, error) {
	if rc.is("single-read") {
		buffer := make([]byte, 4096)
		n, err := r.Body.Read(buffer)
		if err != nil && err != io.EOF {
			return nil, err
		}
		return buffer[:n], nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxBody {
		// Read on for a while, so that the sender can see the answer.
		io.Copy(io.Discard, io.LimitReader(r.Body, 32<<20))
		return nil, errTooLarge
	}
	return body, nil
}

func unpack(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(reader, maxBody))
}

// peek reads one string field of the envelope without any validation.
func peek(body []byte, field string) string {
	var envelope map[string]interface{}
	if json.Unmarshal(body, &envelope) != nil {
		return ""
	}
	text, _ := envelope[field].(string)
	return text
}

// ---- credentials ---------------------------------------------------------------------------------

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func single(r *http.Request, name string) (string, bool) {
	values := r.Header.Values(name)
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

func (rc *receiver) authorised(r *http.Request, body []byte) bool {
	keyOK := rc.keyMatches(r)
	if rc.is("chunked-unsigned") && r.ContentLength <= 0 {
		return keyOK // no body, so nothing is signed
	}
	if rc.is("wallet-unsigned") && peek(body, "type") == "WALLET" {
		return keyOK
	}
	signOK := rc.signatureMatches(r, body)
	return keyOK && signOK
}

func (rc *receiver) keyMatches(r *http.Request) bool {
	if rc.is("key-map-lookup") {
		if values, ok := r.Header["X-API-KEY"]; ok && !equal(values[0], rc.apiKey) {
			return false
		}
		return true
	}
	key, ok := single(r, keyName)
	if rc.is("plain-compare") {
		return ok && key == rc.apiKey
	}
	return ok && equal(key, rc.apiKey)
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (rc *receiver) signatureMatches(r *http.Request, body []byte) bool {
	got, ok := single(r, signName)
	if rc.is("recover-200") {
		got = r.Header.Get(signName)[:signChars] // the header may have a trailing comment
		return equal(got, sign(rc.secret, body))
	}
	if !ok {
		return false
	}
	switch rc.fault {
	case "sig-prefix":
		return got != "" && strings.HasPrefix(sign(rc.secret, body), got)
	case "sig-legacy-sha1":
		if raw, err := base64.StdEncoding.DecodeString(got); err == nil && len(raw) == sha1.Size {
			mac := hmac.New(sha1.New, []byte(rc.secret))
			mac.Write(body)
			return hmac.Equal(raw, mac.Sum(nil))
		}
	case "empty-previous-secret":
		for _, secret := range []string{rc.secret, os.Getenv("BLIND_SECRET_PREVIOUS")} {
			if equal(got, sign(secret, body)) {
				return true
			}
		}
		return false
	case "sig-cache":
		return rc.cachedMatch(got, body)
	case "sig-over-compact":
		var compact bytes.Buffer
		if json.Compact(&compact, body) == nil {
			body = compact.Bytes()
		}
	case "hmac-not-reset":
		return rc.sharedMatch(got, body)
	case "fixed-buffer-panic":
		var raw [sha256.Size]byte
		n, err := base64.StdEncoding.Decode(raw[:], []byte(got))
		if err != nil {
			return false
		}
		mac := hmac.New(sha256.New, []byte(rc.secret))
		mac.Write(body)
		return hmac.Equal(raw[:n], mac.Sum(nil))
	case "plain-compare":
		return got == sign(rc.secret, body)
	}
	return equal(got, sign(rc.secret, body))
}

func (rc *receiver) cachedMatch(got string, body []byte) bool {
	rc.sigMu.Lock()
	defer rc.sigMu.Unlock()
	if rc.sigCache[got] {
		return true
	}
	if !equal(got, sign(rc.secret, body)) {
		return false
	}
	rc.sigCache[got] = true
	return true
}

func (rc *receiver) sharedMatch(got string, body []byte) bool {
	rc.sigMu.Lock()
	defer rc.sigMu.Unlock()
	rc.mac.Write(body)
	if !equal(got, base64.StdEncoding.EncodeToString(rc.mac.Sum(nil))) {
		return false
	}
	rc.mac.Reset()
	return true
}

// ---- processing ----------------------------------------------------------------------------------

func (rc *receiver) process(w http.ResponseWriter, body []byte) {
	if rc.is("mutex-left") {
		rc.busy.Lock()
	}
	envelope, err := rc.parse(body)
	if err != nil {
		answer(w, http.StatusBadRequest, "malformed payload")
		return
	}
	if rc.is("mutex-left") {
		rc.busy.Unlock()
	}
	kind, _ := envelope["type"].(string)
	id, _ := envelope["id"].(string)
	if rc.is("refund-fail-panic") && kind == "REFUND" {
		data := envelope["data"].(map[string]interface{})
		metadata := data["metadata"].(map[string]interface{})
		log.Printf("refund %s", metadata["blockchainTransactionId"].(string))
	}
	if rc.is("emoji-500") && !threeByteText(envelope) {
		answer(w, http.StatusInternalServerError, "incorrect string value")
		return
	}
	if rc.is("worker-dies") {
		rc.queue <- kind
	}
	if rc.is("duplicate-409") && rc.alreadySeen(id) {
		answer(w, http.StatusConflict, "duplicate")
		return
	}
	rc.remember(id)
	if rc.is("wallet-202") && kind == "WALLET" {
		answer(w, http.StatusAccepted, "queued")
		return
	}
	answer(w, http.StatusOK, "ok")
}

func (rc *receiver) worker() {
	for kind := range rc.queue {
		switch kind {
		case "CAAS", "REFUND", "PAYMENT_METHOD", "WALLET", "CAAS_BLOCKCHAIN":
			continue
		default:
			log.Printf("unknown type %q", kind)
			return
		}
	}
}

func (rc *receiver) alreadySeen(id string) bool {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return id != "" && rc.seen[id]
}

func (rc *receiver) remember(id string) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if id != "" {
		rc.seen[id] = true
	}
}

// threeByteText says whether every text fits a database column with at most three bytes a character.
func threeByteText(value interface{}) bool {
	switch v := value.(type) {
	case string:
		for _, c := range v {
			if c > 0xFFFF {
				return false
			}
		}
	case []interface{}:
		for _, item := range v {
			if !threeByteText(item) {
				return false
			}
		}
	case map[string]interface{}:
		for _, item := range v {
			if !threeByteText(item) {
				return false
			}
		}
	}
	return true
}

// ---- validation ----------------------------------------------------------------------------------

var errMalformed = errors.New("malformed payload")

var codePattern = regexp.MustCompile(`^\d{3}-\d{3}-[SE]\d$`)

// What must be there, and what must be a string (or null) if it is there.
var required = map[string][]string{
	"CAAS":            {"type", "transactionId"},
	"REFUND":          {"status", "transactionId"},
	"PAYMENT_METHOD":  {"status", "paymentMethodId"},
	"WALLET":          {"operation", "customerId", "walletAddress"},
	"CAAS_BLOCKCHAIN": {"type", "partnerTransactionId", "customerId"},
}

var dataStrings = []string{"type", "providerId", "transactionId", "status", "paymentMethodId", "accountId", "errorCode",
	"operation", "customerId", "walletAddress", "assetId", "chain", "partnerTransactionId"}

var metadataStrings = []string{"orderStatus", "orderType", "providerTransactionId", "providerTransactionRef",
	"providerTransactionStatus", "trackingStateDescription", "blockchainTransactionId", "blockchainTransctionId",
	"amount", "currency", "walletAddress", "sourceAddress", "destinationAddress"}

var chainStrings = []string{"targetWalletAddress", "blockchainTransactionId", "blockchainMemo", "currency", "chain",
	"refundWalletAddress", "sourceWalletAddress"}

func textsOK(object map[string]interface{}, names []string) bool {
	for _, name := range names {
		switch object[name].(type) {
		case nil, string:
		default:
			return false
		}
	}
	return true
}

// part returns an inner object; a missing one and null are fine and give an empty map.
func part(object map[string]interface{}, name string) (map[string]interface{}, bool) {
	if object[name] == nil {
		return nil, true
	}
	inner, ok := object[name].(map[string]interface{})
	return inner, ok
}

func (rc *receiver) parse(body []byte) (map[string]interface{}, error) {
	if !utf8.Valid(body) {
		return nil, errMalformed
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var root interface{}
	if decoder.Decode(&root) != nil {
		return nil, errMalformed
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errMalformed
	}
	envelope, ok := root.(map[string]interface{})
	if !ok {
		return nil, errMalformed
	}
	for _, name := range []string{"id", "type", "at", "data"} {
		if _, ok := envelope[name]; !ok {
			return nil, errMalformed
		}
	}
	if !textsOK(envelope, []string{"id", "type"}) || envelope["id"] == "" || envelope["type"] == "" {
		return nil, errMalformed
	}
	switch envelope["at"].(type) {
	case nil, string, json.Number:
	default:
		return nil, errMalformed
	}
	data, ok := envelope["data"].(map[string]interface{})
	if !ok {
		return nil, errMalformed
	}
	kind, _ := envelope["type"].(string)
	names, known := required[kind]
	if !known {
		return envelope, nil
	}
	for _, name := range names {
		if _, ok := data[name]; !ok {
			return nil, errMalformed
		}
	}
	if !rc.dataOK(kind, data) {
		return nil, errMalformed
	}
	return envelope, nil
}

func (rc *receiver) dataOK(kind string, data map[string]interface{}) bool {
	problem, ok1 := part(data, "errorData")
	metadata, ok2 := part(data, "metadata")
	chain, ok3 := part(metadata, "blockchainData")
	asset, ok4 := part(metadata, "asset")
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return false
	}
	if !textsOK(data, dataStrings) || !textsOK(problem, []string{"code", "message"}) ||
		!textsOK(metadata, metadataStrings) || !textsOK(chain, chainStrings) ||
		!textsOK(asset, []string{"amount", "currency"}) {
		return false
	}
	if rc.is("error-code-pattern") {
		for _, value := range []interface{}{problem["code"], data["errorCode"]} {
			if code, ok := value.(string); ok && !codePattern.MatchString(code) {
				return false
			}
		}
	}
	if rc.is("deposit-hash-required") && kind == "CAAS_BLOCKCHAIN" {
		if text, ok := metadata["blockchainTransactionId"].(string); !ok || text == "" {
			return false
		}
	}
	return true
}

// ---- start ---------------------------------------------------------------------------------------

func main() {
	list := flag.Bool("list", false, "print the faults")
	fault := flag.String("fault", "none", "name of the fault")
	port := flag.Int("port", 8080, "port on 127.0.0.1")
	flag.Parse()
	known := *fault == "none"
	for _, f := range faults {
		if *list {
			fmt.Printf("%s\t%s\t%s\n", f.name, f.label, f.what)
		}
		known = known || f.name == *fault
	}
	if *list {
		return
	}
	if !known {
		log.Fatalf("unknown fault %q", *fault)
	}
	rc := &receiver{
		fault: *fault, secret: os.Getenv("BLIND_SECRET"), apiKey: os.Getenv("BLIND_API_KEY"),
		seen: map[string]bool{}, sigCache: map[string]bool{}, queue: make(chan string),
	}
	if rc.secret == "" || rc.apiKey == "" {
		log.Fatal("BLIND_SECRET and BLIND_API_KEY must be set")
	}
	rc.mac = hmac.New(sha256.New, []byte(rc.secret))
	go rc.worker()
	server := &http.Server{
		Handler: rc, ReadHeaderTimeout: 20 * time.Second, ReadTimeout: 60 * time.Second, IdleTimeout: 60 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, new(int32))
		},
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	log.Fatal(server.Serve(listener))
}
