//! The tokens of a statement, looked at before it is parsed.

use sqlparser::dialect::MySqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::trouble::Trouble;

/// The most tokens other than values, commas and parentheses. The parser makes a tree of operators that is as deep as they are many.
const OTHERS_MAX: usize = 1500;

/// The most arguments of a statement, as the protocol has it.
pub(crate) const ARGUMENTS_MAX: usize = 65_535;

/// The tokens, each `?` with its number behind it, and how many of them there are.
///
/// # Errors
/// It is no SQL, or too much of it.
pub(crate) fn tokens(sql: &str) -> Result<(Vec<TokenWithSpan>, usize), Trouble> {
    let mut tokens = Tokenizer::new(&MySqlDialect {}, sql)
        .tokenize_with_location()
        .map_err(|error| Trouble::unknown(format_args!("{error}")))?;
    join_tables(&mut tokens);
    let (mut arguments, mut others, mut is_after_open) = (0, 0, true);
    for token in &mut tokens {
        match &mut token.token {
            Token::Whitespace(_) => continue,
            Token::Placeholder(name) if name == "?" => {
                *name = format!("?{arguments}");
                arguments += 1;
                is_after_open = false;
            }
            Token::Comma | Token::LParen => is_after_open = true,
            // A sign.
            Token::Minus | Token::Plus if is_after_open => is_after_open = false,
            Token::RParen
            | Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::HexStringLiteral(_) => is_after_open = false,
            Token::Word(word) if is_after_open && word.quote_style.is_none() => {
                is_after_open = false;
            }
            _ => {
                is_after_open = false;
                others += 1;
            }
        }
    }
    if others > OTHERS_MAX {
        return Err(Trouble::unknown(format_args!("it has more than {OTHERS_MAX} words")));
    }
    if arguments > ARGUMENTS_MAX {
        let text = "Prepared statement contains too many placeholders";
        return Err(Trouble::new(1390, "HY000", text));
    }
    Ok((tokens, arguments))
}

/// Makes `UPDATE a, b SET` `UPDATE a JOIN b SET`, which is the same and known to the parser.
fn join_tables(tokens: &mut [TokenWithSpan]) {
    let (mut is_first, mut is_update) = (true, false);
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::SemiColon => is_first = true,
            Token::Word(word) if is_first => {
                (is_first, is_update) = (false, word.keyword == Keyword::UPDATE);
            }
            Token::Word(word) if word.keyword == Keyword::SET => is_update = false,
            Token::Comma if is_update => token.token = Token::make_keyword("JOIN"),
            _ => is_first = false,
        }
    }
}
