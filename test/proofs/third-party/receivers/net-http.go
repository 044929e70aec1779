package main

import (
	"encoding/json"
	"io"
	"net/http"
)

func main() {
	http.HandleFunc("/hooks", func(w http.ResponseWriter, r *http.Request) {
		const maxBodyBytes = int64(65536)
		r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		payload, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if !isSigned(payload, r.Header.Get("X-Service-Signature")) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var notification map[string]interface{}
		if err := json.Unmarshal(payload, &notification); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusOK)
	})
	http.ListenAndServe(address(), nil)
}
