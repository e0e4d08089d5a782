// SPDX-License-Identifier: GPL-2.0-only
// A Rust program whose argument determines where certain branches lead. See toggles.c.
use std::collections::BTreeMap;
use std::hint::black_box;
use std::thread;

#[inline(never)]
fn work(i: u64) {
    black_box(i);
}

trait Shape {
    fn area(&self, n: u64) -> u64;
}

struct Square;
struct Circle;

impl Shape for Square {
    #[inline(never)]
    fn area(&self, n: u64) -> u64 {
        black_box(n) * n
    }
}

impl Shape for Circle {
    #[inline(never)]
    fn area(&self, n: u64) -> u64 {
        let mut sum = 0;
        for i in 0..black_box(n) {
            sum += black_box(i);
        }
        sum
    }
}

#[inline(never)]
fn virtual_call(shape: &dyn Shape) {
    work(shape.area(5)); // toggle 0
    work(1);
}

#[inline(never)]
fn text(bits: u64) -> String {
    work(1);
    let mut text = "always".to_string();
    if bits >> 1 & 1 == 1 { // toggle 1
        text = format!("{}, and more", text);
    }
    text
}

#[inline(never)]
fn vector(nr: u64) {
    let mut list: Vec<u64> = (0..6).map(|i| i * 7 % 5).collect();
    list.sort();
    let mut i = 0;
    while black_box(i) < nr { // toggle 2
        work(i);
        i += 1;
    }
    work(list[2]);
}

#[inline(never)]
fn map(bits: u64) {
    let mut map = BTreeMap::new();
    for i in 0..5u64 {
        map.insert((i * 3 % 5).to_string(), i);
    }
    for value in map.values() {
        work(*value);
        if bits >> 3 & 1 == 1 { // toggle 3
            work(9);
        }
    }
}

#[inline(never)]
fn recurse(depth: u64) -> u64 {
    work(depth);
    if depth == 0 { // toggle 4
        return 1;
    }
    black_box(recurse(black_box(depth - 1)) + 1)
}

#[inline(never)]
fn in_thread(nr: u64, toggled: u64) {
    for i in 0..nr {
        work(i);
    }
    if toggled == 1 { // toggle 5
        work(1);
    }
    work(2);
}

fn main() {
    let argument = std::env::args().nth(1).expect("an argument");
    let bits = argument.bytes().enumerate().fold(0, |all, (i, byte)| all | (byte as u64 & 1) << i);
    let shapes: [&dyn Shape; 2] = [&Square, &Circle];

    virtual_call(shapes[(bits & 1) as usize]);
    black_box(text(bits));
    vector(4 + 3 * (bits >> 2 & 1));
    map(bits);
    recurse(6 + (bits >> 4 & 1) * 5);
    let first = thread::spawn(move || in_thread(3, bits >> 5 & 1));
    let second = thread::spawn(|| in_thread(5, 0));
    first.join().unwrap();
    second.join().unwrap();
}
