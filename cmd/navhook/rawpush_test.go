package main

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/nav-watchdog/nav-watchdog/internal/exit"
)

// rawPush is a client of somebody who means harm: it says to git receive-pack
// whatever it is told, without the checks that `git push` makes before.
//
//	rawpush REPO [-o OPTION]... OLD NEW REF [OLD NEW REF]...
//
// OPTION and REF may hold Go's escapes (\n). The objects must be on the server.
// What receive-pack reports is printed; if it refused anything, that is exit 1.
func rawPush() {
	os.Exit(exit.Report(os.Stderr, "rawpush", push(os.Args[1:])))
}

func push(args []string) error {
	cmd := exec.Command("git", "receive-pack", "--", args[0])
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	out := bufio.NewReader(pipe)
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := packets(out); err != nil { // what the server has
		return fmt.Errorf("reading the refs of the server: %w", err)
	}
	request, err := request(args[1:])
	if err != nil {
		return err
	}
	if _, err := in.Write(request); err != nil {
		return fmt.Errorf("writing to receive-pack: %w", err)
	}
	lines, err := packets(out)
	for _, line := range lines {
		fmt.Println(strings.TrimSuffix(line, "\n"))
		if strings.HasPrefix(line, "ng ") || strings.HasPrefix(line, "unpack ") && line != "unpack ok\n" {
			err = errors.New("receive-pack refused it")
		}
	}
	return errors.Join(err, in.Close(), cmd.Wait())
}

func request(args []string) ([]byte, error) {
	var b bytes.Buffer
	var options []string
	for len(args) > 1 && args[0] == "-o" {
		o, err := strconv.Unquote(`"` + args[1] + `"`)
		if err != nil {
			return nil, fmt.Errorf("unquoting %s: %w", args[1], err)
		}
		options, args = append(options, o), args[2:]
	}
	capabilities := "\x00report-status"
	if len(options) > 0 {
		capabilities += " push-options"
	}
	for ; len(args) >= 3; args = args[3:] {
		ref, err := strconv.Unquote(`"` + args[2] + `"`)
		if err != nil {
			return nil, fmt.Errorf("unquoting %s: %w", args[2], err)
		}
		packet(&b, args[0]+" "+args[1]+" "+ref+capabilities)
		capabilities = ""
	}
	b.WriteString("0000")
	for _, o := range options {
		packet(&b, o)
	}
	if len(options) > 0 {
		b.WriteString("0000")
	}
	pack := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x00") // without objects
	sum := sha1.Sum(pack)
	b.Write(append(pack, sum[:]...))
	return b.Bytes(), nil
}

func packet(b *bytes.Buffer, line string) { fmt.Fprintf(b, "%04x%s", len(line)+4, line) }

// packets reads pkt-lines (gitprotocol-common(5)) up to a flush.
func packets(in io.Reader) ([]string, error) {
	var lines []string
	for {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return lines, err
		}
		n, err := strconv.ParseUint(string(size[:]), 16, 16)
		switch {
		case err != nil:
			return lines, err
		case n == 0:
			return lines, nil
		case n < 4:
			return lines, fmt.Errorf("a packet of %d bytes", n)
		}
		line := make([]byte, n-4)
		if _, err := io.ReadFull(in, line); err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
}
