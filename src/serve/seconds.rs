use std::{fmt, str::FromStr, time::Duration};

/// A time on the command line: a whole or fractional number of seconds above zero.
#[derive(Clone, Copy, Debug)]
pub struct Seconds(pub Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a number of seconds above 0; write `30` or `0.5`");
        let seconds: f64 = text.parse().map_err(|_| wrong())?;
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) if !time.is_zero() => Ok(Self(time)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}
