// SPDX-License-Identifier: GPL-2.0-only
//! Recursion, closures, trait objects, instances of a generic function, callbacks of the library,
//! threads, and panics that are caught in recursion.
//!
//! With --cfg told, each function prints its depth and its name at its entry. A guard object counts
//! the depth, because its destructor also runs if a panic ends the function.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicI64, Ordering};

static TOTAL: AtomicI64 = AtomicI64::new(0);

#[cfg(told)]
mod told {
    use std::cell::Cell;

    thread_local!(static DEPTH: Cell<u32> = Cell::new(0));

    pub struct Guard;

    impl Guard {
        pub fn new(name: &str) -> Guard {
            let depth = DEPTH.with(|d| {
                d.set(d.get() + 1);
                d.get()
            });
            println!("{} {}", depth, name);
            Guard
        }
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            DEPTH.with(|d| d.set(d.get() - 1));
        }
    }
}

macro_rules! enter {
    ($name:expr) => {
        #[cfg(told)]
        let _guard = told::Guard::new($name);
    };
}

#[inline(never)]
fn leaf(n: i64) {
    enter!("tree::leaf");
    TOTAL.fetch_add(n, Ordering::Relaxed);
}

#[inline(never)]
fn fib(n: i64) -> i64 {
    enter!("tree::fib");
    if n < 2 {
        leaf(n);
        return n;
    }
    fib(n - 1) + fib(n - 2) + TOTAL.load(Ordering::Relaxed)
}

trait Shape {
    fn area(&self) -> i64;
}

struct Square(i64);
struct Circle(i64);

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> i64 {
        enter!("<tree::Square as tree::Shape>::area");
        leaf(self.0);
        self.0 * self.0
    }
}

impl Shape for Circle {
    #[inline(never)]
    fn area(&self) -> i64 {
        enter!("<tree::Circle as tree::Shape>::area");
        leaf(self.0);
        3 * self.0 * self.0
    }
}

#[inline(never)]
fn shapes() -> i64 {
    enter!("tree::shapes");
    let all: Vec<Box<dyn Shape>> = vec![Box::new(Square(2)), Box::new(Circle(3))];
    all.iter().map(|s| s.area()).sum()
}

#[inline(never)]
fn compare(a: &i64, b: &i64) -> std::cmp::Ordering {
    enter!("tree::compare");
    leaf(*a);
    a.cmp(b)
}

#[inline(never)]
fn sort() {
    enter!("tree::sort");
    let mut numbers = vec![5, 2, 8, 1, 9, 3, 7, 4];
    numbers.sort_by(compare);
    leaf(numbers[0]);
}

#[inline(never)]
fn thrower(n: i64) -> i64 {
    enter!("tree::thrower");
    leaf(n);
    if n % 2 == 1 {
        panic!("odd");
    }
    n
}

struct Cleanup(i64);

impl Drop for Cleanup {
    #[inline(never)]
    fn drop(&mut self) {
        enter!("<tree::Cleanup as core::ops::drop::Drop>::drop");
        leaf(self.0);
    }
}

#[inline(never)]
fn through(n: i64, depth: i64) -> i64 {
    enter!("tree::through");
    let _cleanup = Cleanup(depth);
    if depth == 0 {
        return thrower(n) + TOTAL.load(Ordering::Relaxed);
    }
    through(n, depth - 1) + TOTAL.load(Ordering::Relaxed)
}

#[inline(never)]
fn attempt(n: i64) -> i64 {
    enter!("tree::attempt");
    leaf(100);
    let result = catch_unwind(AssertUnwindSafe(|| through(n, 3)));
    leaf(200);
    if n > 0 {
        return attempt(n - 1) + result.unwrap_or(7);
    }
    result.unwrap_or(8)
}

#[inline(never)]
fn in_thread(n: i64) {
    enter!("tree::in_thread");
    leaf(fib(n));
}

fn main() {
    enter!("tree::main");
    std::panic::set_hook(Box::new(|_| {}));
    leaf(fib(5));
    leaf(shapes());
    sort();
    leaf(attempt(3));
    for n in 3..6 {
        std::thread::spawn(move || in_thread(n)).join().unwrap();
    }
}
