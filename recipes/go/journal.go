package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxLineBytes is enough for a body of 1 MiB in which JSON escapes each byte as six bytes.
const maxLineBytes = 8 << 20

// Journal is a file with one line of JSON per notification, and the ids of those lines. Store returns nil when the
// notification is on disk. The file is locked (flock: Linux, macOS, BSD) while the process lives.
type Journal struct {
	name  string
	mutex sync.Mutex
	file  *os.File
	info  os.FileInfo
	size  int64
	ids   map[string]struct{}
}

type entry struct {
	ID         string    `json:"id"`
	ReceivedAt time.Time `json:"receivedAt"`
	Body       string    `json:"body"`
}

func openJournal(name string) (*Journal, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s is in use by another process", name)
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{name: name, file: file, ids: map[string]struct{}{}}
	if j.info, err = file.Stat(); err != nil {
		return nil, err
	}
	if err := j.readLines(); err != nil {
		return nil, err
	}
	// An incomplete last line was being written when the process was killed.
	if err := file.Truncate(j.size); err != nil {
		return nil, err
	}
	return j, file.Sync()
}

// readLines reads the ids of the lines. It changes nothing, so that a wrong name in WEBHOOK_JOURNAL is harmless.
func (j *Journal) readLines() error {
	lines := bufio.NewReaderSize(j.file, maxLineBytes)
	for number := 1; ; number++ {
		line, err := lines.ReadSlice('\n')
		if err == io.EOF && (len(line) == 0 || bytes.HasPrefix(line, []byte(`{"id":`))) {
			return nil
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		var stored struct{ ID string }
		if err != nil || json.Unmarshal(line, &stored) != nil || stored.ID == "" {
			return fmt.Errorf("%s line %d is not a line of a journal", j.name, number)
		}
		j.ids[stored.ID] = struct{}{}
		j.size += int64(len(line))
	}
}

// Store appends a line and flushes it to disk. A duplicate adds no line.
func (j *Journal) Store(id string, body []byte) error {
	line, err := json.Marshal(entry{id, time.Now().UTC(), string(body)})
	if err != nil {
		return err
	}
	line = append(line, '\n')
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if err := j.check(); err != nil {
		return err
	}
	if _, isCopy := j.ids[id]; isCopy {
		return nil
	}
	if _, err = j.file.Write(line); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.file.Truncate(j.size) // If this also fails, check reports it.
		return err
	}
	j.size += int64(len(line))
	j.ids[id] = struct{}{}
	return nil
}

// check returns an error when the file was removed or replaced, because its lines would be missing at the next start,
// and when it contains anything else, such as part of a line that could not be cut off.
func (j *Journal) check() error {
	found, err := os.Stat(j.name)
	if err == nil && (!os.SameFile(found, j.info) || found.Size() != j.size) {
		err = fmt.Errorf("%s is not the file that this process has written", j.name)
	}
	return err
}
