// Decodes a stream of vegeta's result records with Go's own encoding/gob and does nothing else with them: the least that
// a report made in Go has to do. Prints how many there were.
package main

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"time"
)

// Result has the published fields of a record.
type Result struct {
	Attack    string
	Seq       uint64
	Code      uint16
	Timestamp time.Time
	Latency   time.Duration
	BytesOut  uint64
	BytesIn   uint64
	Error     string
	Body      []byte
	Method    string
	URL       string
	Headers   map[string][]string
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	decoder := gob.NewDecoder(bufio.NewReader(file))
	count := 0
	for {
		var result Result
		err := decoder.Decode(&result)
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		count++
	}
	fmt.Println(count)
}
