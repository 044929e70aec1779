// Webhook receivers with one fault each: go run receivers.go --fault NAME --port N, or --list.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

type entry struct{ name, label, what string }

var faults = []entry{
	{"hmac-covers-first-4096-bytes-only", "must",
		"Only the first 4096 bytes of the body go into the HMAC, so everything after them can be changed."},
	{"mutex-kept-locked-after-bad-json", "must",
		"The error branch for malformed JSON returns without releasing the lock, so every later delivery hangs."},
	{"signature-header-url-unescaped", "must",
		"The signature header is URL-unescaped, which turns a plus sign into a space, so such signatures get 401."},
	{"health-path-suffix-exempt-from-auth", "must",
		"The authentication skips every path that ends like a health check, and the router accepts any path under " +
			"/hooks/."},
	{"signature-checked-only-for-exact-json-type", "must",
		"The signature middleware runs only when Content-Type is exactly application/json; other types pass unsigned."},
	{"unknown-length-taken-for-empty-ping", "must",
		"A request without a positive Content-Length (empty, or chunked) is taken for a ping and answered 200 unchecked."},
	{"atomic-amount-parsed-as-int64", "must",
		"The deposit's amount in atomic units is parsed into 64 bits, so larger amounts get 400."},
	{"deposit-hash-required-in-correct-spelling", "must",
		"The deposit's hash is a required field in its correct spelling, so the misspelt key or no hash gets 400."},
	{"error-code-pattern-demands-three-digit-groups", "must",
		"The pattern for error codes demands two groups of three digits, so the code 152-99-S2 gets 400."},
	{"connection-stays-authenticated", "must",
		"One valid delivery marks its connection as authenticated, and later requests on it are not checked."},
	{"circuit-breaker-opens-and-skips-signature", "must",
		"After five signature failures within half a minute a circuit breaker opens and the check is skipped for a while."},
	{"background-job-panic-ends-process", "must",
		"A background goroutine takes the third group of an error code without a check, and its panic ends the process."},
	{"waits-for-hash-inside-the-request", "must",
		"For BLOCKCHAIN_ACCEPTED without a hash the handler polls for the hash for sixteen seconds before it answers."},
	{"wallet-notification-answered-201", "must",
		"A WALLET notification creates a record and is answered with 201 instead of 200."},
	{"unknown-envelope-field-refused", "should",
		"The decoder disallows unknown fields, so an additional field in the envelope gets 400."},
	{"misspelt-hash-key-accepted-but-not-read", "blind",
		"A deposit with the misspelt hash key is accepted, but its hash is stored as an empty string."},
}

const maxBody = 12 << 20

var (
	fault, secret, apiKey string

	amountText = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?)?$`)
	atomicText = regexp.MustCompile(`^[0-9]*$`)
	wholeText  = regexp.MustCompile(`^-?[0-9]+$`)
	timeText   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$`)
	threeDigit = regexp.MustCompile(`^[0-9]{3}-[0-9]{3}-[A-Z][0-9]$`)
)

type object = map[string]interface{}

// ---------------------------------------------------------------- storage

type record struct{ kind, hash, severity string }

type storage struct {
	mutex   sync.Mutex
	records map[string]record
}

var store = storage{records: map[string]record{}}

func (s *storage) save(id string, r record) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.records) < 10000 && len(id) < 200 {
		s.records[id] = r
	}
}

// ---------------------------------------------------------------- credentials

type breaker struct {
	mutex     sync.Mutex
	failures  []time.Time
	openUntil time.Time
}

var guard breaker

func (b *breaker) open() bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return time.Now().Before(b.openUntil)
}

func (b *breaker) failed() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now, recent := time.Now(), []time.Time{}
	for _, moment := range b.failures {
		if now.Sub(moment) < 30*time.Second {
			recent = append(recent, moment)
		}
	}
	b.failures = append(recent, now)
	if len(b.failures) >= 5 {
		b.failures, b.openUntil = nil, now.Add(15*time.Second)
	}
}

func single(r *http.Request, name string) string {
	values := r.Header.Values(name)
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

func signatureValid(r *http.Request, body []byte) bool {
	sent := single(r, "X-Service-Signature")
	if fault == "signature-header-url-unescaped" {
		if unescaped, err := url.QueryUnescape(sent); err == nil {
			sent = unescaped
		}
	}
	if fault == "hmac-covers-first-4096-bytes-only" && len(body) > 4096 {
		body = body[:4096]
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	expected := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(sent), []byte(expected))
}

type connectionKey struct{}

type connectionState struct {
	mutex         sync.Mutex
	authenticated bool
}

func authorised(r *http.Request, body []byte) bool {
	if fault == "health-path-suffix-exempt-from-auth" {
		for _, suffix := range []string{"/health", "/healthz", "/ping", "/status"} {
			if strings.HasSuffix(r.URL.Path, suffix) {
				return true
			}
		}
	}
	state, _ := r.Context().Value(connectionKey{}).(*connectionState)
	if fault == "connection-stays-authenticated" && state != nil {
		state.mutex.Lock()
		defer state.mutex.Unlock()
		if state.authenticated {
			return true
		}
	}
	keyGood := hmac.Equal([]byte(single(r, "X-API-KEY")), []byte(apiKey))
	signatureGood := signatureValid(r, body)
	if fault == "signature-checked-only-for-exact-json-type" && r.Header.Get("Content-Type") != "application/json" {
		signatureGood = true
	}
	if fault == "circuit-breaker-opens-and-skips-signature" && !signatureGood {
		if guard.open() {
			signatureGood = true
		} else {
			guard.failed()
		}
	}
	if keyGood && signatureGood && state != nil && fault == "connection-stays-authenticated" {
		state.authenticated = true
	}
	return keyGood && signatureGood
}

// ---------------------------------------------------------------- payload

var errMalformed = errors.New("malformed payload")

type checker struct{ bad bool }

// text checks that a field is a string or null; null is tolerated.
func (c *checker) text(parent object, name string, required bool, pattern *regexp.Regexp) string {
	value, present := parent[name]
	if !present || value == nil {
		c.bad = c.bad || (required && !present)
		return ""
	}
	found, isText := value.(string)
	if !isText || (pattern != nil && !pattern.MatchString(found)) {
		c.bad = true
	}
	return found
}

func (c *checker) texts(parent object, required bool, names ...string) {
	for _, name := range names {
		c.text(parent, name, required, nil)
	}
}

func (c *checker) part(parent object, name string, required bool) object {
	value := parent[name]
	if value == nil && !required {
		return object{}
	}
	found, isObject := value.(object)
	if !isObject {
		c.bad = true
		return object{}
	}
	return found
}

func (c *checker) code(parent object, name string) {
	code := c.text(parent, name, false, nil)
	if fault == "error-code-pattern-demands-three-digit-groups" && code != "" && !threeDigit.MatchString(code) {
		c.bad = true
	}
}

func (c *checker) deposit(data object) {
	c.texts(data, true, "type", "status", "partnerTransactionId", "customerId")
	metadata := c.part(data, "metadata", true)
	c.texts(metadata, true, "sourceAddress", "destinationAddress")
	asset := c.part(metadata, "asset", true)
	amount := c.text(asset, "amount", true, atomicText)
	if fault == "atomic-amount-parsed-as-int64" && amount != "" {
		if _, err := strconv.ParseInt(amount, 10, 64); err != nil {
			c.bad = true
		}
	}
	c.texts(asset, true, "currency")
	required := fault == "deposit-hash-required-in-correct-spelling"
	c.texts(metadata, required, "blockchainTransactionId")
	c.texts(metadata, false, "blockchainTransctionId")
}

func (c *checker) caas(data object) {
	c.texts(data, true, "providerId", "transactionId", "type")
	metadata := c.part(data, "metadata", true)
	switch data["type"] {
	case "BUY", "SELL":
		c.texts(metadata, true, "orderStatus")
		c.texts(c.part(metadata, "blockchainData", false), false, "targetWalletAddress", "blockchainTransactionId",
			"blockchainMemo", "currency", "chain", "refundWalletAddress", "sourceWalletAddress")
	case "ORDER_TRACKING":
		c.texts(metadata, true, "orderType", "providerTransactionStatus")
		c.texts(metadata, false, "providerTransactionId", "providerTransactionRef", "trackingStateDescription")
	}
}

func (c *checker) errorData(data object) {
	problem := c.part(data, "errorData", false)
	c.code(problem, "code")
	c.texts(problem, false, "message")
}

// check validates an envelope; unknown types, statuses and fields pass.
func check(envelope object) error {
	c := &checker{}
	c.texts(envelope, true, "id", "type")
	at, present := envelope["at"]
	c.bad = c.bad || !present
	if fault == "unknown-envelope-field-refused" {
		for name := range envelope {
			c.bad = c.bad || !strings.Contains(" id type at data ", " "+name+" ")
		}
	}
	data := c.part(envelope, "data", true)
	kind, _ := envelope["type"].(string)
	switch kind {
	case "CAAS", "PAYMENT_METHOD", "REFUND":
		number, isNumber := at.(json.Number)
		c.bad = c.bad || !isNumber || !wholeText.MatchString(string(number))
	case "WALLET", "CAAS_BLOCKCHAIN":
		c.text(envelope, "at", true, timeText)
	}
	switch kind {
	case "CAAS":
		c.caas(data)
		c.errorData(data)
	case "REFUND":
		c.texts(data, true, "providerId", "transactionId", "status")
		metadata := c.part(data, "metadata", false)
		c.text(metadata, "amount", false, amountText)
		c.texts(metadata, false, "blockchainTransactionId", "currency", "walletAddress")
		c.errorData(data)
	case "PAYMENT_METHOD":
		c.texts(data, true, "status", "paymentMethodId", "accountId")
		c.code(data, "errorCode")
	case "WALLET":
		c.texts(data, true, "operation", "customerId", "walletAddress", "assetId", "chain")
	case "CAAS_BLOCKCHAIN":
		c.deposit(data)
	}
	if c.bad {
		return errMalformed
	}
	return nil
}

func decode(body []byte) (object, error) {
	if !utf8.Valid(body) {
		return nil, errMalformed
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var envelope object
	if err := decoder.Decode(&envelope); err != nil || envelope == nil {
		return nil, errMalformed
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errMalformed
	}
	return envelope, nil
}

func parse(body []byte) (object, error) {
	if fault == "mutex-kept-locked-after-bad-json" {
		store.mutex.Lock()
		envelope, err := decode(body)
		if err != nil {
			return nil, err
		}
		store.mutex.Unlock()
		return envelope, check(envelope)
	}
	envelope, err := decode(body)
	if err != nil {
		return nil, err
	}
	return envelope, check(envelope)
}

// ---------------------------------------------------------------- processing

func child(parent object, name string) object {
	found, _ := parent[name].(object)
	return found
}

func str(parent object, name string) string {
	found, _ := parent[name].(string)
	return found
}

// severity is the first letter of the third group of an error code.
func severity(code string) string {
	groups := strings.Split(code, "-")
	if fault != "background-job-panic-ends-process" && (len(groups) < 3 || groups[2] == "") {
		return ""
	}
	return groups[2][:1]
}

func waitForHash(ctx context.Context) {
	for round := 0; round < 8; round++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
	}
}

func process(r *http.Request, envelope object) int {
	data := child(envelope, "data")
	metadata := child(data, "metadata")
	kind := str(envelope, "type")
	hash := str(metadata, "blockchainTransactionId")
	if hash == "" && fault != "misspelt-hash-key-accepted-but-not-read" {
		hash = str(metadata, "blockchainTransctionId")
	}
	if kind == "CAAS" {
		hash = str(child(metadata, "blockchainData"), "blockchainTransactionId")
		accepted := str(metadata, "orderStatus") == "BLOCKCHAIN_ACCEPTED"
		if fault == "waits-for-hash-inside-the-request" && accepted && hash == "" {
			waitForHash(r.Context())
		}
	}
	saved := record{kind: kind, hash: hash}
	code := str(child(data, "errorData"), "code") + str(data, "errorCode")
	if fault == "background-job-panic-ends-process" && code != "" {
		go func() { saved.severity = severity(code) }()
	} else if code != "" {
		saved.severity = severity(code)
	}
	store.save(str(envelope, "id"), saved)
	if kind == "WALLET" && fault == "wallet-notification-answered-201" {
		return http.StatusCreated
	}
	return http.StatusOK
}

// ---------------------------------------------------------------- server

func answer(w http.ResponseWriter, status int, message string) {
	text, _ := json.Marshal(map[string]string{"message": message})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	w.Write(text)
}

func serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	var slow net.Error
	switch {
	case errors.As(err, &tooLarge):
		w.Header().Set("Connection", "close")
		answer(w, http.StatusRequestEntityTooLarge, "too large")
		return
	case errors.As(err, &slow) && slow.Timeout():
		w.Header().Set("Connection", "close")
		answer(w, http.StatusRequestTimeout, "body too slow")
		return
	case err != nil:
		w.Header().Set("Connection", "close")
		answer(w, http.StatusBadRequest, "incomplete body")
		return
	}
	below := fault == "health-path-suffix-exempt-from-auth" && strings.HasPrefix(r.URL.Path, "/hooks/")
	if r.URL.Path != "/hooks" && !below {
		answer(w, http.StatusNotFound, "not found")
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		answer(w, http.StatusMethodNotAllowed, "method not allowed")
		return
	}
	if fault == "unknown-length-taken-for-empty-ping" && r.ContentLength < 1 {
		answer(w, http.StatusOK, "pong")
		return
	}
	if !authorised(r, body) {
		answer(w, http.StatusUnauthorized, "unauthorised")
		return
	}
	envelope, err := parse(body)
	if err != nil {
		answer(w, http.StatusBadRequest, "malformed payload")
		return
	}
	answer(w, process(r, envelope), "received")
}

func main() {
	list := flag.Bool("list", false, "list the faults")
	name := flag.String("fault", "none", "name of the fault")
	port := flag.Int("port", 0, "port on 127.0.0.1")
	flag.Parse()
	known := *name == "none"
	for _, f := range faults {
		if *list {
			fmt.Printf("%s\t%s\t%s\n", f.name, f.label, f.what)
		}
		known = known || f.name == *name
	}
	if *list {
		return
	}
	if !known {
		fmt.Fprintln(os.Stderr, "unknown fault")
		os.Exit(2)
	}
	fault, secret, apiKey = *name, os.Getenv("BLIND_SECRET"), os.Getenv("BLIND_API_KEY")
	if secret == "" || apiKey == "" {
		fmt.Fprintln(os.Stderr, "BLIND_SECRET and BLIND_API_KEY are needed")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(*port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(serve),
		ReadHeaderTimeout: 8 * time.Second,
		ReadTimeout:       9 * time.Second,
		IdleTimeout:       60 * time.Second,
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, &connectionState{})
		},
	}
	fmt.Println("listening")
	fmt.Fprintln(os.Stderr, server.Serve(listener))
}
