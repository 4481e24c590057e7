//! The tokens of a statement, looked at before it is parsed.

use sqlparser::dialect::MySqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::trouble::Trouble;

/// The most tokens other than values, commas and parentheses. The parser makes a tree of operators that is as deep as they are many.
const OTHERS_MAX: usize = 1500;

/// The most tokens. Each takes some hundred bytes while its statement is read: 250 000 rows of one text are as many.
const TOKENS_MAX: usize = 1_000_000;

/// The most arguments of a statement, as the protocol has it.
pub(crate) const ARGUMENTS_MAX: usize = 65_535;

/// The tokens, each `?` with its number behind it, and how many of them there are.
///
/// # Errors
/// It is no SQL, or too much of it.
pub(crate) fn tokens(sql: &str) -> Result<(Vec<TokenWithSpan>, usize), Trouble> {
    if token_count(sql) > TOKENS_MAX {
        return Err(Trouble::unknown(format_args!(
            "it has more than {TOKENS_MAX} words and values"
        )));
    }
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

/// At least as many as there will be tokens: each byte but those within words, numbers and quotes.
fn token_count(sql: &str) -> usize {
    let (mut count, mut quote, mut is_word, mut is_escaped) = (0, None, false, false);
    for &byte in sql.as_bytes() {
        if let Some(mark) = quote {
            let ends = byte == mark && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            quote = quote.filter(|_| !ends);
            continue;
        }
        let was_word = is_word;
        is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        count += usize::from(!(is_word && was_word));
        quote = matches!(byte, b'\'' | b'"' | b'`').then_some(byte);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_never_more_than_was_counted() {
        for sql in [
            "INSERT INTO t (a, b) VALUES (1, 'a b c'), (-2.5, \"it's\\\" so\"), (?, 'it''s')",
            "SELECT `a b`.x FROM t WHERE id>=5 AND t<>'\\'' -- a comment\n LIMIT 3;",
        ] {
            let tokens = tokens(sql).unwrap().0;
            assert!(tokens.len() <= token_count(sql), "{} {}", tokens.len(), token_count(sql));
        }
        assert_eq!(token_count(&format!("SELECT '{}'", "x, ".repeat(1000))), 3);
    }

    #[test]
    fn a_comma_between_tables_is_a_join() {
        let words = |sql: &str| {
            let tokens = tokens(sql).unwrap().0.into_iter().map(|token| token.token.to_string());
            tokens.collect::<String>()
        };
        let sql = "UPDATE a, b SET a.x = 1, a.y = 2; INSERT INTO t VALUES (1, 2)";
        assert_eq!(words(sql), sql.replacen(',', "JOIN", 1));
    }
}
