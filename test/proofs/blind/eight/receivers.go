// Webhook receiver with switchable faults.
//
//	receivers --list
//	receivers --fault NAME --port N      (NAME `none`: the correct receiver)
//
// Environment: BLIND_SECRET (HMAC secret, text), BLIND_API_KEY.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
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

var faults = [][3]string{
	{"conn-auth", "must",
		"once a signature was valid on a connection, later requests on this connection are not checked for theirs"},
	{"old-secret", "must",
		"the previous secret of a rotation is not set and therefore empty: an HMAC with the empty key is accepted"},
	{"tx-lock-leak", "must",
		"the lock of a transaction is not released when its payload is refused, so its next delivery hangs"},
	{"int64-amount", "must",
		"the atomic amount of a deposit is read as a 64-bit integer, and larger amounts are refused with 422"},
	{"refund-after-failed", "must",
		"a failed sell closes its transaction, and the refund that follows is refused with 409"},
	{"uuid-version", "must",
		"notification ids are checked with a pattern that knows UUID versions up to 5 only; others get 400"},
	{"gzip-first", "must",
		"Content-Encoding gzip is undone before the credentials are checked, and data that is not gzip ends in 500"},
	{"sig-form-400", "must",
		"a signature header that is not valid Base64 is answered 400 instead of 401"},
	{"slash-route", "must",
		"the route with a trailing slash leads to the same handler without the check of credentials"},
	{"https-redirect", "must",
		"a delivery with X-Forwarded-Proto: http is redirected to https"},
	{"severity-index", "must",
		"the last digit of an error code is an index into three severities, and another one ends the connection"},
	{"refund-hash-nil", "must",
		"a refund without blockchainTransactionId dereferences nil, and the connection ends without an answer"},
	{"lockout-global", "must",
		"25 failed attempts in a row lock every sender out with 429 for 15 seconds, valid deliveries too"},
	{"body-limit", "must",
		"only the first 8 KiB of a body are read and verified, and the rest is thrown away without a word"},
	{"key-echo", "must",
		"the answer to a wrong API key names the expected key"},
	{"plain-compare", "blind",
		"signature and key are compared with the plain operator, not in constant time"},
}

const (
	maxBody  = 10<<20 + 64<<10
	maxDrain = 64 << 20
)

// refused is a request that is answered with a status.
type refused struct {
	status int
	text   string
	close  bool
	extra  map[string]string
}

func (r *refused) Error() string { return r.text }

func malformed(text string) error { return &refused{status: 400, text: text} }

type object = map[string]any

// ---------------------------------------------------------------------------------------------- payload

var integer = regexp.MustCompile(`^-?[0-9]+$`)

func texts(holder object, names ...string) error {
	for _, name := range names {
		value, there := holder[name]
		if !there || value == nil {
			continue
		}
		if _, ok := value.(string); !ok {
			return malformed("a field must be a text")
		}
	}
	return nil
}

func needed(holder object, names ...string) error {
	for _, name := range names {
		if _, there := holder[name]; !there {
			return malformed("a field is missing")
		}
	}
	return texts(holder, names...)
}

func part(holder object, name string) (object, error) {
	value := holder[name]
	if value == nil {
		return object{}, nil
	}
	inner, ok := value.(object)
	if !ok {
		return nil, malformed("a field must be an object")
	}
	return inner, nil
}

func text(holder object, name string) string {
	value, _ := holder[name].(string)
	return value
}

func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

func parse(body []byte) (object, error) {
	if !utf8.Valid(body) {
		return nil, malformed("the body is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, malformed("the body is not JSON")
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, malformed("there is something after the JSON value")
	}
	doc, ok := value.(object)
	if !ok {
		return nil, malformed("not a notification")
	}
	return doc, nil
}

func checkEnvelope(doc object) error {
	if err := needed(doc, "id", "type"); err != nil {
		return err
	}
	at, there := doc["at"]
	if !there {
		return malformed("a field is missing")
	}
	switch value := at.(type) {
	case nil, string:
	case json.Number:
		if !integer.MatchString(value.String()) {
			return malformed("at is not an integer")
		}
	default:
		return malformed("at is neither a number nor a text")
	}
	if _, ok := doc["data"].(object); !ok {
		return malformed("data is not an object")
	}
	return nil
}

func checkData(kind string, data object) error {
	meta, metaErr := part(data, "metadata")
	problem, problemErr := part(data, "errorData")
	switch kind {
	case "CAAS":
		err := firstError(needed(data, "type", "transactionId"), texts(data, "providerId"), metaErr, problemErr,
			texts(problem, "code", "message"))
		if err != nil {
			return err
		}
		switch text(data, "type") {
		case "BUY", "SELL":
			chain, chainErr := part(meta, "blockchainData")
			return firstError(texts(meta, "orderStatus"), chainErr, texts(chain, "targetWalletAddress",
				"blockchainTransactionId", "blockchainMemo", "currency", "chain", "refundWalletAddress",
				"sourceWalletAddress"))
		case "ORDER_TRACKING":
			return texts(meta, "orderType", "providerTransactionId", "providerTransactionRef",
				"providerTransactionStatus", "trackingStateDescription")
		}
	case "REFUND":
		return firstError(needed(data, "transactionId", "status"), texts(data, "providerId"), metaErr, problemErr,
			texts(meta, "blockchainTransactionId", "amount", "currency", "walletAddress"),
			texts(problem, "code", "message"))
	case "PAYMENT_METHOD":
		return firstError(needed(data, "status", "paymentMethodId"), texts(data, "accountId", "errorCode"))
	case "WALLET":
		return firstError(needed(data, "walletAddress"), texts(data, "operation", "customerId", "assetId", "chain"))
	case "CAAS_BLOCKCHAIN":
		asset, assetErr := part(meta, "asset")
		return firstError(needed(data, "type"), texts(data, "status", "partnerTransactionId", "customerId"), metaErr,
			assetErr, texts(meta, "sourceAddress", "destinationAddress", "blockchainTransactionId",
				"blockchainTransctionId"), texts(asset, "amount", "currency"))
	}
	return nil
}

// --------------------------------------------------------------------------------------------- receiver

type connState struct{ verified atomic.Bool }

type connKey struct{}

type receiver struct {
	fault       string
	secret, key string
	secrets     []string

	mu     sync.Mutex
	seen   map[string]bool
	closed map[string]bool
	failed int
	locked time.Time

	orders sync.Map // transaction id -> *sync.Mutex
}

func newReceiver(fault, secret, key string) *receiver {
	r := &receiver{fault: fault, secret: secret, key: key, seen: map[string]bool{}, closed: map[string]bool{}}
	r.secrets = []string{secret}
	if fault == "old-secret" {
		r.secrets = append(r.secrets, os.Getenv("BLIND_SECRET_PREVIOUS"))
	}
	return r
}

func single(header http.Header, name string) (string, bool) {
	values := header.Values(name)
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

func (r *receiver) equal(given, stored string) bool {
	if r.fault == "plain-compare" {
		return given == stored
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(stored)) == 1
}

func (r *receiver) signed(given string, body []byte) bool {
	good := false
	for _, secret := range r.secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(body)
		if r.equal(given, base64.StdEncoding.EncodeToString(mac.Sum(nil))) {
			good = true
		}
	}
	return good
}

func (r *receiver) authorize(req *http.Request, body []byte) error {
	denied := &refused{status: 401, text: "signature or key is not valid"}
	signature, signatureThere := single(req.Header, "X-Service-Signature")
	key, keyThere := single(req.Header, "X-Api-Key")
	if r.fault == "sig-form-400" && signatureThere {
		if _, err := base64.StdEncoding.DecodeString(signature); err != nil {
			return malformed("the signature is not Base64")
		}
	}
	keyGood := keyThere && r.equal(key, r.key)
	good := signatureThere && r.signed(signature, body)
	if r.fault == "conn-auth" {
		if state, ok := req.Context().Value(connKey{}).(*connState); ok {
			if good && keyGood {
				state.verified.Store(true)
			}
			good = good || state.verified.Load()
		}
	}
	if r.fault == "key-echo" && keyThere && !keyGood {
		denied.text = fmt.Sprintf("X-API-Key mismatch: got %q, want %q", key, r.key)
	}
	if !keyGood || !good {
		return denied
	}
	return nil
}

// attempt counts failures for the lock-out.
func (r *receiver) attempt(err error) {
	var no *refused
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.As(err, &no) && no.status == 401 {
		r.failed++
		if r.failed >= 25 {
			r.failed, r.locked = 0, time.Now().Add(15*time.Second)
		}
		return
	}
	r.failed = 0
}

func (r *receiver) lockedOut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.locked)
}

func (r *receiver) deliver(req *http.Request, body []byte) error {
	if r.fault == "lockout-global" && r.lockedOut() {
		return &refused{status: 429, text: "too many attempts", extra: map[string]string{"Retry-After": "15"}}
	}
	coding := strings.ToLower(strings.Join(req.Header.Values("Content-Encoding"), ","))
	if r.fault == "gzip-first" && coding == "gzip" {
		plain, err := gunzip(body)
		if err != nil {
			return err
		}
		body, coding = plain, ""
	}
	err := r.authorize(req, body)
	if r.fault == "lockout-global" {
		r.attempt(err)
	}
	if err != nil {
		return err
	}
	content, _, _ := strings.Cut(req.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(content), "application/json") {
		return &refused{status: 415, text: "Content-Type must be application/json"}
	}
	if coding != "" && coding != "identity" {
		return &refused{status: 415, text: "no Content-Encoding is supported"}
	}
	return r.process(body)
}

func gunzip(body []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(reader, maxBody+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > maxBody {
		return nil, &refused{status: 413, text: "the body is too large"}
	}
	return plain, nil
}

func (r *receiver) process(body []byte) error {
	doc, err := parse(body)
	if err != nil {
		return err
	}
	if err := checkEnvelope(doc); err != nil {
		return err
	}
	id, kind, data := text(doc, "id"), text(doc, "type"), doc["data"].(object)
	if r.fault == "tx-lock-leak" {
		if order := text(data, "transactionId"); order != "" {
			return r.inOrder(order, id, kind, data)
		}
	}
	return r.book(id, kind, data)
}

func (r *receiver) inOrder(order, id, kind string, data object) error {
	entry, _ := r.orders.LoadOrStore(order, &sync.Mutex{})
	lock := entry.(*sync.Mutex)
	lock.Lock()
	if err := checkData(kind, data); err != nil {
		return err
	}
	err := r.book(id, kind, data)
	lock.Unlock()
	return err
}

func (r *receiver) book(id, kind string, data object) error {
	if err := checkData(kind, data); err != nil {
		return err
	}
	if err := r.faultySteps(id, kind, data); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.seen) > 200000 {
		r.seen = map[string]bool{}
	}
	if id != "" {
		r.seen[id] = true
	}
	return nil
}

var uuidForm = regexp.MustCompile(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-5][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$`)

var severities = [...]string{"high", "medium", "low"}

func severity(code string) string {
	if code == "" {
		return ""
	}
	return severities[int(code[len(code)-1])-'1']
}

func (r *receiver) faultySteps(id, kind string, data object) error {
	meta, _ := part(data, "metadata")
	switch r.fault {
	case "uuid-version":
		if len(id) == 36 && !uuidForm.MatchString(id) {
			return malformed("id is not a UUID")
		}
	case "severity-index":
		problem, _ := part(data, "errorData")
		if kind == "CAAS" || kind == "REFUND" {
			_ = severity(text(problem, "code"))
		} else if kind == "PAYMENT_METHOD" {
			_ = severity(text(data, "errorCode"))
		}
	case "int64-amount":
		if kind == "CAAS_BLOCKCHAIN" {
			asset, _ := part(meta, "asset")
			if amount, ok := asset["amount"].(string); ok {
				if _, err := strconv.ParseInt(amount, 10, 64); err != nil {
					return &refused{status: 422, text: "the amount is not an integer"}
				}
			}
		}
	case "refund-hash-nil":
		if kind == "REFUND" {
			var hash *string
			if value, ok := meta["blockchainTransactionId"].(string); ok {
				hash = &value
			}
			_ = strings.ToLower(*hash)
		}
	case "refund-after-failed":
		order := text(data, "transactionId")
		r.mu.Lock()
		defer r.mu.Unlock()
		if kind == "REFUND" && r.closed[order] {
			return &refused{status: 409, text: "this transaction is closed"}
		}
		if kind == "CAAS" && text(data, "type") == "SELL" && text(meta, "orderStatus") == "FAILED" {
			r.closed[order] = true
		}
	}
	return nil
}

// ------------------------------------------------------------------------------------------------- HTTP

func (r *receiver) body(req *http.Request) ([]byte, error) {
	tooLarge := &refused{status: 413, text: "the body is too large"}
	expects := req.Header.Get("Expect") != ""
	if req.ContentLength > maxDrain || (expects && req.ContentLength > maxBody) {
		tooLarge.close = true
		return nil, tooLarge
	}
	limit := int64(maxBody)
	if r.fault == "body-limit" {
		limit = 8 << 10
	}
	var kept bytes.Buffer
	if req.ContentLength > 0 && req.ContentLength <= limit {
		kept.Grow(int(req.ContentLength) + bytes.MinRead)
	}
	count, err := io.Copy(&kept, io.LimitReader(req.Body, limit))
	if err == nil && count == limit {
		var more int64
		more, err = io.Copy(io.Discard, io.LimitReader(req.Body, maxDrain-count))
		count += more
	}
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return nil, &refused{status: 408, text: "the body is not complete", close: true}
		}
		return nil, &refused{status: 400, text: "the body is not complete", close: true}
	}
	if count > maxBody {
		tooLarge.close = count >= maxDrain
		return nil, tooLarge
	}
	return kept.Bytes(), nil
}

func answer(w http.ResponseWriter, err error) {
	status, words := 200, object{"status": "ok"}
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		var no *refused
		if !errors.As(err, &no) {
			no = &refused{status: 500, text: "internal error"}
		}
		status, words = no.status, object{"error": no.text}
		for name, value := range no.extra {
			w.Header().Set(name, value)
		}
		if no.close {
			w.Header().Set("Connection", "close")
		}
	}
	text, _ := json.Marshal(words)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := r.body(req)
	if err != nil {
		answer(w, err)
		return
	}
	path := req.URL.EscapedPath()
	slash := r.fault == "slash-route" && path == "/hooks/"
	if path != "/hooks" && !slash {
		answer(w, &refused{status: 404, text: "nothing here"})
		return
	}
	if r.fault == "https-redirect" && strings.EqualFold(req.Header.Get("X-Forwarded-Proto"), "http") {
		answer(w, &refused{status: 308, text: "use https", extra: map[string]string{
			"Location": "https://" + req.Host + req.URL.RequestURI()}})
		return
	}
	if req.Method != http.MethodPost {
		answer(w, &refused{status: 405, text: "POST only", extra: map[string]string{"Allow": "POST"}})
		return
	}
	if slash {
		answer(w, r.process(body))
		return
	}
	answer(w, r.deliver(req, body))
}

// plainConn keeps the server of the library from answering `OPTIONS *` on its own.
type plainConn struct{ net.Conn }

func (c plainConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if bytes.HasPrefix(p[:n], []byte("OPTIONS * HTTP/")) {
		p[8] = '/'
	}
	return n, err
}

func (c plainConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type plainListener struct{ net.Listener }

func (l plainListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return plainConn{conn}, nil
}

func main() {
	list := flag.Bool("list", false, "list the faults")
	fault := flag.String("fault", "none", "name of the fault, or none")
	port := flag.Int("port", 0, "port on 127.0.0.1")
	flag.Parse()
	known := *fault == "none"
	for _, entry := range faults {
		if *list {
			fmt.Println(strings.Join(entry[:], "\t"))
		}
		known = known || entry[0] == *fault
	}
	if *list {
		return
	}
	secret, key := os.Getenv("BLIND_SECRET"), os.Getenv("BLIND_API_KEY")
	if !known || *port == 0 || secret == "" || key == "" {
		fmt.Fprintln(os.Stderr, "a known --fault, --port, BLIND_SECRET and BLIND_API_KEY are needed")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := &http.Server{
		Handler:           newReceiver(*fault, secret, key),
		ReadHeaderTimeout: 8 * time.Second,
		ReadTimeout:       8 * time.Second,
		IdleTimeout:       90 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, &connState{})
		},
	}
	fmt.Printf("listening on http://127.0.0.1:%d/hooks\n", *port)
	if err := server.Serve(plainListener{listener}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
