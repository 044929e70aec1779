// Webhook receivers with one fault each. Build with "go build receivers.go"; standard library only.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const maxBody = 12 << 20

type fault struct{ name, label, what string }

var faults = []fault{
	{"signature-only-if-header-sent", "must",
		"The signature is verified only when the signature header is present and not empty."},
	{"signature-in-any-letter-case", "must",
		"The Base64 signature is compared with strings.EqualFold, so letter case does not count."},
	{"signature-compared-to-shorter-length", "must",
		"Only as many characters are compared as the shorter signature has, so a prefix or an empty one passes."},
	{"single-read-of-body", "must",
		"The body is taken from one Read into a buffer of 4096 bytes; later segments and bytes are lost."},
	{"api-key-accepted-as-secret", "must",
		"A signature keyed with the API key is accepted in addition to one keyed with the secret."},
	{"missing-key-header-panics", "must",
		"The API key is taken with index 0 of the header list, which panics when the header is missing."},
	{"client-verify-header-trusted", "must",
		"A request with X-SSL-Client-Verify: SUCCESS, as a TLS proxy would set it, needs no key and no signature."},
	{"subtree-route-unguarded", "must",
		"Paths below /hooks/ go to the same handler without the authentication wrapper."},
	{"pprof-on-public-port", "must",
		"The default mux is served, so the profiling pages at /debug/pprof/ are open to everybody."},
	{"no-length-means-ping", "must",
		"A request without a positive Content-Length (empty or chunked) is answered 200 as a ping, unauthenticated."},
	{"seen-signature-skips-hmac", "must",
		"A signature that was valid once is cached, and is then accepted for any other body."},
	{"body-read-under-global-lock", "must",
		"The body is read while a global lock is held, so one unfinished request blocks all the others."},
	{"decoder-error-sticks", "must",
		"One JSON decoder serves all requests; after a signed malformed body it refuses every later delivery."},
	{"worker-panic-ends-process", "must",
		"A goroutine asserts that orderStatus is a string; null or missing, it panics and the process ends."},
	{"second-event-of-transaction-conflicts", "must",
		"A later CAAS notification (new id) about a known transactionId is answered 409."},
	{"unhandled-type-acknowledged-first", "must",
		"A body whose type has no handler is answered 200 before key and signature are checked."},
	{"timestamp-needs-milliseconds", "must",
		"A textual time is parsed with a layout of exactly three decimals; whole seconds are answered 400."},
	{"deposit-amount-in-int64", "must",
		"The atomic amount of a deposit is parsed as int64; amounts of 20 digits and more are answered 400."},
	{"content-type-compared-exactly", "should",
		"The Content-Type must equal application/json; with a charset parameter the answer is 415."},
	{"signature-compared-with-equals", "blind",
		"The signature is compared with ==, not in constant time."},
}

// Fields of data that are text, by type; a dotted path goes through objects.
var textFields = map[string][]string{
	"CAAS": {"type", "providerId", "transactionId", "metadata.orderStatus",
		"metadata.blockchainData.targetWalletAddress", "metadata.blockchainData.blockchainTransactionId",
		"metadata.blockchainData.blockchainMemo", "metadata.blockchainData.currency",
		"metadata.blockchainData.chain", "metadata.blockchainData.refundWalletAddress",
		"metadata.blockchainData.sourceWalletAddress", "metadata.orderType", "metadata.providerTransactionId",
		"metadata.providerTransactionRef", "metadata.providerTransactionStatus",
		"metadata.trackingStateDescription", "errorData.code", "errorData.message"},
	"REFUND": {"providerId", "transactionId", "status", "metadata.blockchainTransactionId", "metadata.amount",
		"metadata.currency", "metadata.walletAddress", "errorData.code", "errorData.message"},
	"PAYMENT_METHOD": {"status", "paymentMethodId", "accountId", "errorCode"},
	"WALLET":         {"operation", "customerId", "walletAddress", "assetId", "chain"},
	"CAAS_BLOCKCHAIN": {"type", "status", "partnerTransactionId", "customerId", "metadata.sourceAddress",
		"metadata.destinationAddress", "metadata.asset.amount", "metadata.asset.currency",
		"metadata.blockchainTransactionId", "metadata.blockchainTransctionId"},
}

// Fields of data that must be there, by type.
var requiredFields = map[string][]string{
	"CAAS":            {"type", "transactionId"},
	"REFUND":          {"transactionId", "status"},
	"PAYMENT_METHOD":  {"status", "paymentMethodId"},
	"WALLET":          {"operation", "walletAddress"},
	"CAAS_BLOCKCHAIN": {"type", "status"},
}

var wholeNumber = regexp.MustCompile(`^-?[0-9]+$`)

type object = map[string]any

type receiver struct {
	fault  string
	secret []byte
	apiKey string

	mu           sync.Mutex
	signatures   map[string]bool   // fault seen-signature-skips-hmac
	transactions map[string]string // fault second-event-of-transaction-conflicts
	stream       bytes.Buffer      // fault decoder-error-sticks
	decoder      *json.Decoder     // fault decoder-error-sticks
}

func (s *receiver) is(name string) bool { return s.fault == name }

func answer(w http.ResponseWriter, status int, text string) {
	body := fmt.Sprintf("{\"result\":%q}\n", text)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	io.WriteString(w, body)
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guarded := true
	if r.URL.Path != "/hooks" {
		if !s.is("subtree-route-unguarded") || !strings.HasPrefix(r.URL.Path, "/hooks/") {
			answer(w, http.StatusNotFound, "not found")
			return
		}
		guarded = false
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		answer(w, http.StatusMethodNotAllowed, "method not allowed")
		return
	}
	if s.is("content-type-compared-exactly") && r.Header.Get("Content-Type") != "application/json" {
		answer(w, http.StatusUnsupportedMediaType, "unsupported media type")
		return
	}
	if s.is("no-length-means-ping") && r.ContentLength <= 0 {
		answer(w, http.StatusOK, "pong")
		return
	}

	raw, err := s.readBody(w, r)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		answer(w, http.StatusRequestEntityTooLarge, "body too large")
		return
	}
	if err != nil {
		answer(w, http.StatusBadRequest, "body not readable")
		return
	}

	if s.is("unhandled-type-acknowledged-first") {
		var peek struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(raw, &peek) == nil && peek.Type != "" && textFields[peek.Type] == nil {
			answer(w, http.StatusOK, "ignored")
			return
		}
	}

	if guarded && !s.authorised(r, raw) {
		answer(w, http.StatusUnauthorized, "unauthorized")
		return
	}
	payload, err := s.parse(raw)
	if err == nil {
		err = s.validate(payload)
	}
	if err != nil {
		answer(w, http.StatusBadRequest, "malformed payload")
		return
	}
	answer(w, s.process(payload), "ok")
}

func (s *receiver) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if s.is("single-read-of-body") {
		buffer := make([]byte, 4096)
		n, err := r.Body.Read(buffer)
		if err == io.EOF {
			err = nil
		}
		return buffer[:n], err
	}
	if s.is("body-read-under-global-lock") {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
}

func (s *receiver) authorised(r *http.Request, raw []byte) bool {
	if s.is("client-verify-header-trusted") && r.Header.Get("X-SSL-Client-Verify") == "SUCCESS" {
		return true
	}
	keyGood := s.keyGood(r)
	signatureGood := s.signatureGood(r, raw)
	return keyGood && signatureGood
}

func (s *receiver) keyGood(r *http.Request) bool {
	if s.is("missing-key-header-panics") {
		first := r.Header["X-Api-Key"][0]
		return len(r.Header["X-Api-Key"]) == 1 && sameText(first, s.apiKey)
	}
	keys := r.Header.Values("X-API-KEY")
	return len(keys) == 1 && sameText(keys[0], s.apiKey)
}

func sign(key, raw []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write(raw)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func sameText(given, wanted string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(wanted))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func (s *receiver) signatureGood(r *http.Request, raw []byte) bool {
	wanted := sign(s.secret, raw)
	given := r.Header.Get("X-Service-Signature")
	if len(r.Header.Values("X-Service-Signature")) > 1 {
		return false
	}
	switch s.fault {
	case "signature-only-if-header-sent":
		if given == "" {
			return true
		}
	case "signature-in-any-letter-case":
		return strings.EqualFold(given, wanted)
	case "signature-compared-to-shorter-length":
		n := len(given)
		if n > len(wanted) {
			n = len(wanted)
		}
		return hmac.Equal([]byte(given[:n]), []byte(wanted[:n]))
	case "api-key-accepted-as-secret":
		if sameText(given, sign([]byte(s.apiKey), raw)) {
			return true
		}
	case "seen-signature-skips-hmac":
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.signatures[given] {
			return true
		}
		good := sameText(given, wanted)
		if good {
			s.signatures[given] = true
		}
		return good
	case "signature-compared-with-equals":
		return given == wanted
	}
	return sameText(given, wanted)
}

func (s *receiver) parse(raw []byte) (any, error) {
	var payload any
	if !utf8.Valid(raw) {
		return nil, errors.New("not UTF-8")
	}
	if s.is("decoder-error-sticks") {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stream.Write(raw)
		err := s.decoder.Decode(&payload)
		return payload, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&payload); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, errors.New("text after the JSON value")
	}
	return payload, nil
}

// at walks a dotted path; the error says that something on the way is not an object.
func at(data any, path string) (any, error) {
	for _, part := range strings.Split(path, ".") {
		if data == nil {
			return nil, nil
		}
		obj, ok := data.(object)
		if !ok {
			return nil, errors.New("not an object before " + part)
		}
		data = obj[part]
	}
	return data, nil
}

func text(data any, path string) string {
	value, _ := at(data, path)
	found, _ := value.(string)
	return found
}

func (s *receiver) validate(payload any) error {
	envelope, ok := payload.(object)
	if !ok {
		return errors.New("not an object")
	}
	for _, name := range []string{"id", "type", "at", "data"} {
		if _, ok := envelope[name]; !ok {
			return errors.New("missing " + name)
		}
	}
	for _, name := range []string{"id", "type"} {
		if _, ok := envelope[name].(string); !ok && envelope[name] != nil {
			return errors.New(name + " is not text")
		}
	}
	switch moment := envelope["at"].(type) {
	case nil:
	case json.Number:
		if !wholeNumber.MatchString(moment.String()) {
			return errors.New("at is not a whole number")
		}
	case string:
		if s.is("timestamp-needs-milliseconds") {
			if _, err := time.Parse("2006-01-02T15:04:05.000Z", moment); err != nil {
				return err
			}
		}
	default:
		return errors.New("at is neither number nor text")
	}
	data, ok := envelope["data"].(object)
	if !ok {
		return errors.New("data is not an object")
	}
	kind, _ := envelope["type"].(string)
	for _, name := range requiredFields[kind] {
		if _, ok := data[name]; !ok {
			return errors.New("missing data." + name)
		}
	}
	for _, path := range textFields[kind] {
		value, err := at(data, path)
		if err != nil {
			return err
		}
		if _, ok := value.(string); !ok && value != nil {
			return errors.New("not text: data." + path)
		}
	}
	if s.is("deposit-amount-in-int64") && kind == "CAAS_BLOCKCHAIN" {
		if amount := text(data, "metadata.asset.amount"); amount != "" {
			if _, err := strconv.ParseInt(amount, 10, 64); err != nil {
				return err
			}
		}
	}
	return nil
}

// process does the work for an accepted notification and gives the status of the answer.
func (s *receiver) process(payload any) int {
	envelope := payload.(object)
	data := envelope["data"].(object)
	if envelope["type"] != "CAAS" {
		return http.StatusOK
	}
	switch s.fault {
	case "second-event-of-transaction-conflicts":
		id, transaction := text(envelope, "id"), text(data, "transactionId")
		s.mu.Lock()
		defer s.mu.Unlock()
		if first, known := s.transactions[transaction]; known && first != id {
			return http.StatusConflict
		}
		s.transactions[transaction] = id
	case "worker-panic-ends-process":
		if data["type"] != "ORDER_TRACKING" {
			go func() {
				status := data["metadata"].(object)["orderStatus"].(string)
				fmt.Fprintln(io.Discard, "order is now", status)
			}()
		}
	}
	return http.StatusOK
}

func known(name string) bool {
	for _, one := range faults {
		if one.name == name {
			return true
		}
	}
	return name == "none"
}

func main() {
	list := flag.Bool("list", false, "print the faults")
	name := flag.String("fault", "none", "name of the fault")
	port := flag.Int("port", 8080, "port on 127.0.0.1")
	flag.Parse()
	if *list {
		for _, one := range faults {
			fmt.Printf("%s\t%s\t%s\n", one.name, one.label, one.what)
		}
		return
	}
	if !known(*name) {
		fmt.Fprintln(os.Stderr, "unknown fault:", *name)
		os.Exit(2)
	}

	s := &receiver{
		fault: *name, secret: []byte(os.Getenv("BLIND_SECRET")), apiKey: os.Getenv("BLIND_API_KEY"),
		signatures: map[string]bool{}, transactions: map[string]string{},
	}
	s.decoder = json.NewDecoder(&s.stream)
	s.decoder.UseNumber()
	var handler http.Handler = s
	if s.is("pprof-on-public-port") {
		http.Handle("/hooks", s)
		handler = http.DefaultServeMux
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening")
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 120 * time.Second}
	fmt.Fprintln(os.Stderr, server.Serve(listener))
}
