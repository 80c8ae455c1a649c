// Asks receiver.go, with which it is compiled, about each request on standard input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

func init() {
	if len(os.Args) < 2 || os.Args[1] != "cases" {
		return
	}
	decoder := json.NewDecoder(os.Stdin)
	for {
		var given struct {
			Secret, ID, Timestamp, Signatures string
			Body                              []byte
			Now                               int64
		}
		if err := decoder.Decode(&given); err == io.EOF {
			os.Exit(0)
		} else if err != nil {
			panic(err)
		}
		fmt.Println(IsGenuine(given.Secret, given.ID, given.Timestamp, given.Signatures, given.Body, time.Unix(given.Now, 0)))
	}
}
