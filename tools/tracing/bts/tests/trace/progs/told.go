// SPDX-License-Identifier: GPL-2.0-only

//go:build told

package main

import (
	"fmt"
	"runtime"
	"strings"
)

// The functions that were entered. Print them at the end, because a print may switch
// goroutines.
var lines []string

// Record the name and depth of the caller. The depth is the number of main.* functions on the
// stack.
func enter() {
	pcs := make([]uintptr, 200)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	depth, name := 0, ""
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "main.") && !strings.Contains(frame.Function, ".func") {
			depth++
			if name == "" {
				name = frame.Function
			}
		}
		if !more {
			break
		}
	}
	lines = append(lines, fmt.Sprintf("%d %s", depth, name))
}

func leave() {
	for _, line := range lines {
		fmt.Println(line)
	}
}
