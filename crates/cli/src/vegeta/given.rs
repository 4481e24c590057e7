//! The flags that were given to one of the four.

use super::flag::{self, FlagError, FlagSet, Values};
use crate::{
    Context,
    exit::Exit,
    failure::{Failure, Outcome},
    print::print,
};

/// Reads flags. Nothing if help was asked for, which has been printed on stdout.
///
/// # Errors
/// They are wrong (exit code 2): stderr has the mistake, the flag that was perhaps meant and the page of help.
pub(in crate::vegeta) fn flags(
    context: &Context,
    set: &FlagSet,
    words: &[String],
) -> Outcome<Option<Values>> {
    match set.parse(words) {
        Ok(values) => Ok(Some(values)),
        Err(FlagError::Help) => {
            print(context, &set.help())?;
            Ok(None)
        }
        Err(FlagError::Wrong(message)) => {
            let meant = message
                .strip_prefix(flag::UNDEFINED)
                .and_then(|name| brunt_spelling::nearest(name, set.flags.iter().map(|f| f.name)));
            let tip = meant.map_or_else(String::new, |name| format!("did you mean -{name}? "));
            context.screen.stderr(&format!("{message}\n{tip}See brunt {} -help\n", set.command));
            let mut failure = Failure::new(Exit::WrongFlag, anyhow::Error::msg(message));
            failure.told = true;
            Err(failure)
        }
    }
}
