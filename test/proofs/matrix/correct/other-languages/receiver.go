// A right receiver on net/http. HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment; prints its port.
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
)

var secret, apiKey = []byte(os.Getenv("HOOKPROOF_SECRET")), []byte(os.Getenv("HOOKPROOF_API_KEY"))

func only(request *http.Request, name string) []byte {
	if values := request.Header.Values(name); len(values) == 1 {
		return []byte(values[0])
	}
	return nil
}

func status(writer http.ResponseWriter, request *http.Request) int {
	if request.Method != http.MethodPost {
		return http.StatusMethodNotAllowed
	}
	body, err := io.ReadAll(http.MaxBytesReader(writer, request.Body, 2<<20))
	if err != nil {
		return http.StatusRequestEntityTooLarge
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	due := []byte(base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	signed := hmac.Equal(only(request, "X-Service-Signature"), due)
	if !hmac.Equal(only(request, "X-API-Key"), apiKey) || !signed {
		return http.StatusUnauthorized
	}
	var notification struct {
		ID   string                     `json:"id"`
		Data map[string]json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &notification) != nil || notification.ID == "" {
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.HandleFunc("/hooks", func(writer http.ResponseWriter, request *http.Request) {
		writer.WriteHeader(status(writer, request))
	})
	panic(http.Serve(listener, nil))
}
