// A receiver of signed notifications, correct with --fault none, with exactly one fault otherwise.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	_ "expvar"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
)

const maxBody = 12 << 20

type faultEntry struct{ name, label, what string }

var faults = []faultEntry{
	{"list-of-none", "must", "The signature header is a comma list and all non-empty parts must match, so a list" +
		" without parts (\",\") passes."},
	{"secret-by-type", "must", "The secret is looked up by the type of the body; an unknown type gives the zero value," +
		" an empty HMAC key."},
	{"switch-no-fallthrough", "must", "An empty switch case for WALLET does not fall through, so the signature of" +
		" WALLET notifications is never checked."},
	{"connection-trust", "must", "After one valid delivery the connection counts as authenticated and later requests" +
		" on it are not checked."},
	{"verified-cache", "must", "A cache of verified signatures is keyed by the header value only, so an old signature" +
		" passes with any body."},
	{"xor-accumulator", "must", "The comparison accumulates differences with XOR instead of OR, so differences cancel" +
		" out (two swapped characters pass)."},
	{"key-lowercased", "must", "The table of API keys is lower-cased by the configuration loader and so is the lookup:" +
		" the key passes in any letter case."},
	{"stream-unverified", "must", "A body without Content-Length (chunked) is taken as a stream and its signature is" +
		" not checked."},
	{"remarshalled", "must", "The HMAC is computed over json.Marshal(json.RawMessage(body)), which compacts white space" +
		" and escapes <, > and &."},
	{"stale-struct", "must", "The decoded payment method is kept between requests: the errorCode of a DECLINED" +
		" notification makes later STAGED ones 400."},
	{"background-panic", "must", "A goroutine asserts that errorData.code is a string; any other value panics and ends" +
		" the process."},
	{"slot-leak", "must", "Each request takes one of 16 slots and the 400 path does not give it back: after 16 signed" +
		" malformed bodies all hang."},
	{"closed-transaction", "must", "A FAILED, CONFIRMED or COMPLETED order closes its transactionId, so the REFUND after" +
		" a failed SELL gets 409."},
	{"default-mux", "must", "Other paths go to http.DefaultServeMux, where a package import has registered /debug/vars," +
		" open to everyone."},
	{"field-case", "should", "The envelope is decoded into a struct, whose names match in any letter case: an unknown" +
		" field \"ID\": 7 gives 400."},
	{"header-log", "blind", "Each refused request is logged with all its headers, the API key among them."},
}

type object = map[string]interface{}

type receiver struct {
	fault, secret, apiKey string

	mu       sync.Mutex
	seen     map[string]bool   // ids of accepted notifications
	verified map[string]bool   // fault verified-cache
	closed   map[string]string // fault closed-transaction
	method   paymentMethod     // fault stale-struct
	slots    chan struct{}     // fault slot-leak
}

type paymentMethod struct {
	Data struct {
		Status    string `json:"status"`
		ErrorCode string `json:"errorCode"`
	} `json:"data"`
}

type connState struct {
	mu      sync.Mutex
	trusted bool
}

type connKey struct{}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func equal(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

func equalXor(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	var diff byte
	for i := 0; i < len(a); i++ {
		diff ^= a[i] ^ b[i]
	}
	return diff == 0
}

func kindOf(body []byte) string {
	var head struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(body, &head)
	return head.Type
}

func (s *receiver) keyValid(got string) bool {
	if s.fault == "key-lowercased" {
		keys := map[string]string{strings.ToLower(s.apiKey): "sender"}
		return keys[strings.ToLower(got)] == "sender"
	}
	return equal(got, s.apiKey)
}

func (s *receiver) signatureValid(r *http.Request, body []byte) bool {
	got := r.Header.Get("X-Service-Signature")
	switch s.fault {
	case "list-of-none":
		return s.allMatch(got, body)
	case "secret-by-type":
		secrets := map[string]string{}
		for _, kind := range []string{"CAAS", "REFUND", "PAYMENT_METHOD", "WALLET", "CAAS_BLOCKCHAIN"} {
			secrets[kind] = s.secret
		}
		return equal(got, sign(secrets[kindOf(body)], body))
	case "switch-no-fallthrough":
		switch kindOf(body) {
		case "WALLET":
		case "PAYMENT_METHOD":
			return equal(got, sign(s.secret, body))
		default:
			return equal(got, sign(s.secret, body))
		}
		return true
	case "verified-cache":
		return s.matchCached(got, body)
	case "xor-accumulator":
		return equalXor(got, sign(s.secret, body))
	case "stream-unverified":
		if r.ContentLength < 0 {
			return true // a stream: the consumer verifies it
		}
	case "remarshalled":
		if text, err := json.Marshal(json.RawMessage(body)); err == nil {
			return equal(got, sign(s.secret, text))
		}
	}
	return equal(got, sign(s.secret, body))
}

func (s *receiver) allMatch(header string, body []byte) bool {
	if header == "" {
		return false
	}
	valid := true
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		valid = valid && equal(part, sign(s.secret, body))
	}
	return valid
}

func (s *receiver) matchCached(got string, body []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.verified[got] {
		return true
	}
	if !equal(got, sign(s.secret, body)) {
		return false
	}
	s.verified[got] = true
	return true
}

func (s *receiver) authentic(r *http.Request, body []byte) bool {
	keyOk := s.keyValid(r.Header.Get("X-API-KEY"))
	signatureOk := s.signatureValid(r, body)
	if s.fault != "connection-trust" {
		return keyOk && signatureOk
	}
	state := r.Context().Value(connKey{}).(*connState)
	state.mu.Lock()
	defer state.mu.Unlock()
	state.trusted = state.trusted || keyOk && signatureOk
	return state.trusted
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"result\":%q}\n", text)
}

// textOrAbsent tells whether the field, where present, is a string or null.
func textOrAbsent(o object, names ...string) bool {
	for _, name := range names {
		switch o[name].(type) {
		case nil, string:
		default:
			return false
		}
	}
	return true
}

func objectOrAbsent(o object, name string) (object, bool) {
	switch v := o[name].(type) {
	case nil:
		return nil, true
	case object:
		return v, true
	}
	return nil, false
}

func wholeNumber(v interface{}) bool {
	n, ok := v.(float64)
	return v == nil || ok && n == math.Trunc(n)
}

// valid checks the shape: strict in the kinds of the known fields, tolerant to unknown names and values.
func valid(env object) bool {
	for _, name := range []string{"id", "type", "at", "data"} {
		if _, ok := env[name]; !ok {
			return false
		}
	}
	if !textOrAbsent(env, "id", "type") || env["id"] == "" || env["type"] == "" {
		return false
	}
	data, ok := env["data"].(object)
	if !ok {
		return false
	}
	switch env["type"] {
	case "CAAS", "REFUND":
		meta, metaOk := objectOrAbsent(data, "metadata")
		chain, chainOk := objectOrAbsent(meta, "blockchainData")
		_, errorOk := objectOrAbsent(data, "errorData")
		return wholeNumber(env["at"]) && metaOk && chainOk && errorOk &&
			textOrAbsent(data, "type", "providerId", "transactionId", "status") &&
			textOrAbsent(meta, "orderStatus", "orderType", "amount", "currency", "walletAddress") &&
			textOrAbsent(chain, "targetWalletAddress", "blockchainTransactionId", "blockchainMemo", "currency", "chain")
	case "PAYMENT_METHOD":
		return wholeNumber(env["at"]) && textOrAbsent(data, "status", "paymentMethodId", "accountId", "errorCode")
	case "WALLET":
		return textOrAbsent(env, "at") &&
			textOrAbsent(data, "operation", "customerId", "walletAddress", "assetId", "chain")
	case "CAAS_BLOCKCHAIN":
		meta, metaOk := objectOrAbsent(data, "metadata")
		asset, assetOk := objectOrAbsent(meta, "asset")
		return textOrAbsent(env, "at") && metaOk && assetOk && textOrAbsent(asset, "amount", "currency") &&
			textOrAbsent(data, "type", "status", "partnerTransactionId", "customerId") &&
			textOrAbsent(meta, "sourceAddress", "destinationAddress", "blockchainTransactionId", "blockchainTransctionId")
	}
	return true
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/hooks" {
		if s.fault == "default-mux" {
			http.DefaultServeMux.ServeHTTP(w, r)
			return
		}
		answer(w, 404, "not found")
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		answer(w, 405, "method not allowed")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		answer(w, 413, "body cannot be read")
		return
	}
	if !s.authentic(r, body) {
		if s.fault == "header-log" {
			log.Printf("refused: %v", r.Header)
		}
		answer(w, 401, "unauthorized")
		return
	}
	if s.fault == "slot-leak" {
		s.slots <- struct{}{}
	}
	status, text := s.process(body)
	if s.fault == "slot-leak" && status != 400 {
		<-s.slots
	}
	answer(w, status, text)
}

func (s *receiver) process(body []byte) (int, string) {
	if s.fault == "field-case" {
		var typed struct {
			ID   *string         `json:"id"`
			Type *string         `json:"type"`
			At   json.RawMessage `json:"at"`
			Data object          `json:"data"`
		}
		if json.Unmarshal(body, &typed) != nil {
			return 400, "malformed"
		}
	}
	var env object
	if json.Unmarshal(body, &env) != nil || env == nil || !valid(env) {
		return 400, "malformed"
	}
	id, _ := env["id"].(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != "" && s.seen[id] {
		return 200, "duplicate"
	}
	data := env["data"].(object)
	switch s.fault {
	case "stale-struct":
		if env["type"] == "PAYMENT_METHOD" {
			_ = json.Unmarshal(body, &s.method)
			if s.method.Data.Status == "STAGED" && s.method.Data.ErrorCode != "" {
				return 400, "errorCode without DECLINED"
			}
		}
	case "closed-transaction":
		if !s.openTransaction(data) {
			return 409, "transaction is closed"
		}
	case "background-panic":
		if details, ok := data["errorData"].(object); ok {
			go func() {
				code := details["code"].(string)
				log.Printf("order failed: %s", code)
			}()
		}
	}
	if id != "" {
		s.seen[id] = true
	}
	return 200, "accepted"
}

func (s *receiver) openTransaction(data object) bool {
	transaction, _ := data["transactionId"].(string)
	if transaction == "" {
		return true
	}
	if s.closed[transaction] != "" {
		return false
	}
	meta, _ := data["metadata"].(object)
	status, _ := meta["orderStatus"].(string)
	if status == "FAILED" || status == "CONFIRMED" || status == "COMPLETED" {
		s.closed[transaction] = status
	}
	return true
}

func main() {
	list := flag.Bool("list", false, "list the faults")
	fault := flag.String("fault", "none", "name of the fault")
	port := flag.Int("port", 8080, "port")
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
	s := &receiver{
		fault: *fault, secret: os.Getenv("BLIND_SECRET"), apiKey: os.Getenv("BLIND_API_KEY"),
		seen: map[string]bool{}, verified: map[string]bool{}, closed: map[string]string{},
		slots: make(chan struct{}, 16),
	}
	if s.secret == "" || s.apiKey == "" {
		log.Fatal("BLIND_SECRET and BLIND_API_KEY are required")
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: s, ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, &connState{})
	}}
	fmt.Println("listening")
	log.Fatal(server.Serve(listener))
}
