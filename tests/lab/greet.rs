//! A program that knows nothing of the lab: greets whom it reads of, with its arguments; or tries to start a thread.

use std::io::Read;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["thread"] {
        match std::thread::Builder::new().spawn(|| ()) {
            Ok(thread) => thread.join().unwrap(),
            Err(error) => {
                println!("{error}");
                std::process::exit(1);
            }
        }
    }
    let mut name = String::new();
    std::io::stdin().read_to_string(&mut name).unwrap();
    println!("hello, {}: {}", name.trim(), arguments.join(" "));
}
