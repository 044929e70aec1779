// Prints the forms of Go of each body on standard input (a JSON list), in base64, as one JSON list of lists.
package main

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"os"
	"strings"
)

func forms(body string) [][]byte {
	var value, numbers interface{}
	_ = json.Unmarshal([]byte(body), &value)
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	_ = decoder.Decode(&numbers)
	quoted, _ := json.Marshal([]byte(body))
	escaped, _ := json.Marshal(body)
	return [][]byte{
		[]byte(fmt.Sprint(value)), []byte(fmt.Sprint(numbers)), []byte(fmt.Sprint([]byte(body))),
		[]byte(fmt.Sprintf("%x", body)), quoted, []byte(html.EscapeString(body)), []byte(url.QueryEscape(body)),
		escaped[1 : len(escaped)-1],
	}
}

func main() {
	var bodies []string
	_ = json.NewDecoder(os.Stdin).Decode(&bodies)
	all := [][][]byte{}
	for _, body := range bodies {
		all = append(all, forms(body))
	}
	_ = json.NewEncoder(os.Stdout).Encode(all)
}
