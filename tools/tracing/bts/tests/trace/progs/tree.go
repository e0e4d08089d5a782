// SPDX-License-Identifier: GPL-2.0-only

// The program uses recursion, methods, closures, interfaces and defer. Goroutines communicate
// through channels. Recursive functions recover from panics. Stacks grow, and therefore move.
//
// If the program is built with told.go, it prints the depth and the name of each called function.
package main

import (
	"sort"
	"sync"
)

var total int

type shape interface{ area() int }

type square struct{ n int }
type circle struct{ n int }

func (s square) area() int {
	enter()
	leaf(s.n)
	return s.n * s.n
}

func (c *circle) area() int {
	enter()
	leaf(c.n)
	return 3 * c.n * c.n
}

func leaf(n int) {
	enter()
	total += n
}

func fib(n int) int {
	enter()
	if n < 2 {
		leaf(n)
		return n
	}
	return fib(n-1) + fib(n-2)
}

func shapes() {
	enter()
	for _, s := range []shape{square{2}, &circle{3}} {
		leaf(s.area())
	}
}

// During this call, the stack grows.
func large(n int) int {
	enter()
	var room [1000]int
	if n == 0 {
		leaf(n)
		return total
	}
	room[n] = large(n - 1)
	return room[n] + room[n/2]
}

func compare(a, b int) bool {
	enter()
	leaf(a)
	return a < b
}

func sorted() {
	enter()
	numbers := []int{5, 2, 8, 1, 9, 3, 7, 4}
	sort.Slice(numbers, func(i, j int) bool { return compare(numbers[i], numbers[j]) })
	leaf(numbers[0])
}

func cleanup(n int) {
	enter()
	leaf(n)
}

func through(n int) int {
	enter()
	defer cleanup(n)
	if n == 0 {
		leaf(n)
		panic("zero")
	}
	return through(n-1) + total
}

func recovered() {
	enter()
	leaf(100)
	recover()
}

func attempt(n int) int {
	enter()
	defer recovered()
	if n > 0 {
		leaf(attempt(n - 1))
	}
	return through(3)
}

func first(in, out chan int) {
	enter()
	leaf(1)
	out <- 2 * <-in
	leaf(1)
}

func second(n int, in, out chan int) {
	enter()
	leaf(n)
	if n > 0 {
		second(n-1, in, out)
	} else {
		out <- 3 * <-in
	}
	leaf(n)
}

func third(in, out chan int) {
	enter()
	n := <-in
	leaf(n + <-in)
	out <- n
	leaf(n)
}

func worker(id int, in, out chan int, done *sync.WaitGroup) {
	enter()
	for i := 0; i < 3; i++ {
		switch id {
		case 0:
			first(in, out)
		case 1:
			second(i, in, out)
		default:
			third(in, out)
		}
		leaf(id)
	}
	done.Done()
}

// The goroutines wait in different functions. If several goroutines waited in the same function,
// branches would not show which goroutine continues.
func goroutines() {
	enter()
	var done sync.WaitGroup
	in := []chan int{make(chan int), make(chan int), make(chan int)}
	out := make(chan int)
	for i := range in {
		done.Add(1)
		go worker(i, in[i], out, &done)
	}
	for i := 0; i < 3; i++ {
		for id, c := range in {
			leaf(200)
			c <- i
			if id == 2 {
				c <- i
			}
			leaf(<-out)
		}
	}
	done.Wait()
}

func main() {
	enter()
	leaf(fib(6))
	shapes()
	leaf(large(20))
	sorted()
	leaf(attempt(2))
	goroutines()
	leaf(total)
	leave()
}
