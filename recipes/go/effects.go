//go:build ignore

// Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only.
// `go run effects.go notification=ID,ID` or `go run effects.go transaction=ID`
package main

import (
	"encoding/json"
	"log"
	"net/url"
	"os"
	"regexp"
	"strings"
)

var decimals = map[string]int{"BTC": 8, "ETH": 18, "USDC": 6, "GUSD": 2, "NEO": 0}

// places lists, for each value, the fields that can contain it. The first filled one is used.
var places = map[string][]string{
	"notification":  {"id"},
	"kind":          {"type"},
	"status":        {"data.metadata.orderStatus", "data.metadata.providerTransactionStatus", "data.status"},
	"transaction":   {"data.transactionId", "data.partnerTransactionId"},
	"customer":      {"data.customerId", "data.accountId"},
	"paymentMethod": {"data.paymentMethodId"},
	"address":       {"data.walletAddress"},
	"hash": {"data.metadata.blockchainData.blockchainTransactionId", "data.metadata.blockchainTransactionId",
		"data.metadata.blockchainData.blockchainTransctionId", "data.metadata.blockchainTransctionId"},
	"amount": {"data.metadata.asset.amount", "data.metadata.amount"},
	"currency": {"data.metadata.asset.currency", "data.metadata.currency", "data.metadata.blockchainData.currency",
		"data.assetId"},
	"errorCode": {"data.errorData.code", "data.errorCode"},
}

func handling(line string) map[string]string {
	var entry struct{ Body string }
	var notification map[string]any // A struct would also match keys in another letter case.
	if json.Unmarshal([]byte(line), &entry) != nil || json.Unmarshal([]byte(entry.Body), &notification) != nil {
		log.Fatal("The journal has a line that is not a notification.")
	}
	values := map[string]string{}
	for name, paths := range places {
		for at := len(paths) - 1; at >= 0; at-- {
			if value := textAt(notification, paths[at]); value != "" {
				values[name] = value
			}
		}
	}
	if kind := textAt(notification, "data.type"); values["kind"] == "CAAS" && kind != "" {
		values["kind"] = "CAAS_" + kind
	}
	if atomic := textAt(notification, "data.metadata.asset.amount"); atomic != "" {
		delete(values, "amount")
		if places, isKnown := decimals[values["currency"]]; isKnown && strings.Trim(atomic, "0123456789") == "" {
			values["amount"] = displayAmount(atomic, places)
		}
	}
	return values
}

func textAt(value any, path string) string {
	for _, key := range strings.Split(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	text, _ := value.(string)
	return text
}

// displayAmount moves the decimal point in the string, because a float would lose digits.
func displayAmount(atomic string, decimals int) string {
	if missing := decimals + 1 - len(atomic); missing > 0 {
		atomic = strings.Repeat("0", missing) + atomic
	}
	point := len(atomic) - decimals
	return strings.TrimSuffix(strings.TrimRight(atomic[:point]+"."+atomic[point:], "0"), ".")
}

func main() {
	query := regexp.MustCompile("^(notification|transaction)=(.+)$").FindStringSubmatch(strings.Join(os.Args[1:], " "))
	if query == nil {
		log.Fatal("Give notification=ID,ID or transaction=ID.")
	}
	ids := map[string]bool{}
	for _, part := range strings.Split(query[2], ",") {
		id, _ := url.PathUnescape(part)
		ids[id] = true
	}
	journal := os.Getenv("WEBHOOK_JOURNAL")
	if journal == "" {
		journal = "journal.ndjson"
	}
	content, err := os.ReadFile(journal)
	if err != nil {
		log.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	lines = lines[:len(lines)-1] // An incomplete last line is still being written.
	handled := []map[string]string{}
	for _, line := range lines {
		if one := handling(line); one[query[1]] != "" && ids[one[query[1]]] {
			handled = append(handled, one)
		}
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"total": len(lines), "handled": handled})
}
