//! Looks at the clocks of this machine, for so many seconds (1.5), and prints what it saw as JSON.

use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(1.5), |word| word.parse())?;
    let found = examine::ClockHealth::look(Duration::try_from_secs_f64(seconds)?);
    println!("{}", serde_json::to_string_pretty(&found)?);
    Ok(())
}
