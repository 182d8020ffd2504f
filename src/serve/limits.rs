use std::time::Duration;

use clap::Args;

/// What one caller, one call and one connection may cost. Every limit is an option of
/// `candor serve`, with the default given here.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Seconds that one run of a tool may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub call_seconds: Duration,

    /// Calls of one caller that may run at once; more wait their turn
    #[arg(long, value_name = "COUNT", default_value_t = 16, value_parser = positive)]
    pub calls_at_once: u32,

    /// Calls that one caller may start in a second; more are refused
    #[arg(long, value_name = "COUNT", default_value_t = 1000, value_parser = positive)]
    pub calls_per_second: u32,

    /// Bytes of the arguments of one call, as JSON
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 10)]
    pub argument_bytes: usize,

    /// Bytes of the text in one result
    #[arg(long, value_name = "BYTES", default_value_t = 2 << 20)]
    pub result_bytes: usize,

    /// Seconds that a question to the user stays open
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = seconds)]
    pub question_seconds: Duration,

    /// Questions that may be open at once, over all callers; a new one displaces the oldest
    #[arg(long, value_name = "COUNT", default_value_t = 1024, value_parser = positive)]
    pub open_questions: u32,

    /// Bytes of one message on stdio
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    pub message_bytes: usize,
}

/// A whole or fractional number of seconds above zero.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a number of seconds above 0; write `30` or `0.5`");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err(wrong()),
    }
}

fn positive(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a whole number above 0")),
        Ok(count) => Ok(count),
    }
}
