use clap::Args;

use super::seconds::Seconds;

/// What one caller, one call and one connection may cost. Every limit is an option of
/// `candor serve`, with the default given here.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Seconds that one run of a tool may take
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    pub call_seconds: Seconds,

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
    #[arg(long, value_name = "SECONDS", default_value = "120")]
    pub question_seconds: Seconds,

    /// Questions that may be open at once, over all callers; a new one displaces the oldest
    #[arg(long, value_name = "COUNT", default_value_t = 1024, value_parser = positive)]
    pub open_questions: u32,

    /// Bytes of one message on stdio
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 20)]
    pub message_bytes: usize,

    /// HTTP connections at once; more are turned away
    #[arg(long, value_name = "COUNT", default_value_t = 512, value_parser = positive)]
    pub connections: u32,

    /// Seconds that a connection may take to send the head of a request, or stay idle before one
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    pub header_seconds: Seconds,

    /// Bytes of the head of one HTTP request
    #[arg(long, value_name = "BYTES", default_value_t = 32 << 10)]
    pub header_bytes: usize,

    /// Seconds that the body of an HTTP request may take to arrive
    #[arg(long, value_name = "SECONDS", default_value = "15")]
    pub body_seconds: Seconds,

    /// Bytes of the body of one HTTP request
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20)]
    pub body_bytes: usize,

    /// HTTP sessions of one caller; only clients older than protocol 2026-07-28 have any
    #[arg(long, value_name = "COUNT", default_value_t = 16, value_parser = positive)]
    pub sessions_per_caller: u32,

    /// HTTP sessions of all callers
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = positive)]
    pub sessions_in_total: u32,

    /// Seconds without a message after which an HTTP session ends
    #[arg(long, value_name = "SECONDS", default_value = "300")]
    pub session_seconds: Seconds,

    /// Wrong tokens that one address may present in a minute; more are answered with 429
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = positive)]
    pub wrong_tokens_per_minute: u32,

    /// Seconds that running calls get to end when the server is told to stop
    #[arg(long, value_name = "SECONDS", default_value = "5")]
    pub drain_seconds: Seconds,
}

fn positive(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a whole number above 0")),
        Ok(count) => Ok(count),
    }
}
