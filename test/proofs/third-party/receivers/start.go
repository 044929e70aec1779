// What every receiver in Go is started with: `--port N`, and secret and key from the environment.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"os"
)

func address() string { return "127.0.0.1:" + os.Args[2] }

// The comparison that most samples show.
func isSigned(body []byte, signature string) bool {
	mac := hmac.New(sha256.New, []byte(os.Getenv("RECEIVER_SECRET")))
	mac.Write(body)
	received, err := base64.StdEncoding.DecodeString(signature)
	return err == nil && hmac.Equal(received, mac.Sum(nil))
}
