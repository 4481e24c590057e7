//! Securities, cards, accounts and currencies.

use super::row::{
    Argument, Kind, Out, Rng, Row, argument, between, number_text, pick, pick_pair, plain, rounded,
    text, with,
};
use super::values::number_like;

/// The signs of codes of securities, each worth its place.
const SIGNS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn worth(sign: u8) -> u32 {
    SIGNS.iter().position(|&known| known == sign).unwrap_or(0) as u32
}

/// Eight signs and a check digit: every second value counts twice, and the digits of what comes out are added up.
fn cusip(rng: &mut Rng) -> String {
    let mut code: String =
        (0..8).map(|_| rng.choice(SIGNS).copied().map_or('0', char::from)).collect();
    let sum: u32 = code
        .bytes()
        .enumerate()
        .map(|(place, sign)| worth(sign) * if place % 2 == 1 { 2 } else { 1 })
        .map(|value| value / 10 + value % 10)
        .sum();
    code.push(digit((10 - sum % 10) % 10));
    code
}

fn digit(value: u32) -> char {
    char::from_digit(value, 10).unwrap_or('0')
}

/// A country, a code there, and the Luhn digit of all signs written as numbers.
fn isin(rng: &mut Rng) -> String {
    let country = pick(
        rng,
        "AT|AU|BE|BR|CA|CH|CN|DE|DK|ES|FI|FR|GB|HK|IE|IN|IT|JP|KR|LU|MX|NL|NO|PL|SE|SG|US|ZA",
    );
    let code = format!("{country}{}", cusip(rng));
    let numbers: String = code.bytes().map(|sign| worth(sign).to_string()).collect();
    format!("{code}{}", luhn(&numbers))
}

/// The digit that makes the sum of Luhn a multiple of ten.
fn luhn(digits: &str) -> char {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, sign)| worth(sign) * if place % 2 == 0 { 2 } else { 1 })
        .map(|value| value / 10 + value % 10)
        .sum();
    digit((10 - sum % 10) % 10)
}

/// A kind of card: its names, how its numbers begin and how long they are.
struct Card {
    id: &'static str,
    name: &'static str,
    starts: &'static str,
    length: usize,
    gaps: &'static [usize],
    code: usize,
}

const FOURS: &[usize] = &[4, 8, 12];
const CARDS: &[Card] = &[
    Card { id: "visa", name: "Visa", starts: "4", length: 16, gaps: FOURS, code: 3 },
    Card {
        id: "mastercard",
        name: "Mastercard",
        starts: "51|52|53|54|55|2221|2720",
        length: 16,
        gaps: FOURS,
        code: 3,
    },
    Card {
        id: "american-express",
        name: "American Express",
        starts: "34|37",
        length: 15,
        gaps: &[4, 10],
        code: 4,
    },
    Card {
        id: "diners-club",
        name: "Diners Club",
        starts: "300|305|36|38",
        length: 14,
        gaps: &[4, 10],
        code: 3,
    },
    Card {
        id: "discover",
        name: "Discover",
        starts: "6011|644|65",
        length: 16,
        gaps: FOURS,
        code: 3,
    },
    Card { id: "jcb", name: "JCB", starts: "3528|3589", length: 16, gaps: FOURS, code: 3 },
    Card { id: "unionpay", name: "UnionPay", starts: "620|625", length: 16, gaps: FOURS, code: 3 },
    Card {
        id: "maestro",
        name: "Maestro",
        starts: "5018|5020|6304|6759",
        length: 16,
        gaps: FOURS,
        code: 3,
    },
    Card {
        id: "elo",
        name: "Elo",
        starts: "509000|636368|650031",
        length: 16,
        gaps: FOURS,
        code: 3,
    },
    Card { id: "mir", name: "Mir", starts: "2200|2204", length: 16, gaps: FOURS, code: 3 },
];

fn card(rng: &mut Rng) -> &'static Card {
    rng.choice(CARDS).unwrap_or(&CARDS[0])
}

/// A number of this card that passes the check of Luhn.
fn card_number(rng: &mut Rng, card: &Card, start: &str, has_gaps: bool) -> String {
    let mut digits = start.to_owned();
    let missing = card.length.saturating_sub(1 + digits.len());
    digits.push_str(&number_text(rng, missing));
    digits.push(luhn(&digits));
    if !has_gaps {
        return digits;
    }
    let mut shown = String::with_capacity(digits.len() + 3);
    for (place, sign) in digits.chars().enumerate() {
        if card.gaps.contains(&place) {
            shown.push(' ');
        }
        shown.push(sign);
    }
    shown
}

/// One that is still good for some years.
fn expiry_year(rng: &mut Rng) -> String {
    let year = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).year();
    format!("{:02}", (year + rng.i16(1..11)) % 100)
}

fn expiry(rng: &mut Rng) -> String {
    format!("{:02}/{}", rng.u8(1..13), expiry_year(rng))
}

pub(super) fn credit_card(rng: &mut Rng) -> Out {
    let card = card(rng);
    let start = pick(rng, card.starts);
    Out::record([
        ("Type", card.name.into()),
        ("Number", card_number(rng, card, start, false).into()),
        ("Exp", expiry(rng).into()),
        ("Cvv", number_text(rng, card.code).into()),
    ])
}

fn same(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    plain(one) == plain(other)
}

fn wanted_number(
    rng: &mut Rng,
    types: &[String],
    bins: &[String],
    has_gaps: bool,
) -> Result<Out, String> {
    let card = match rng.choice(types) {
        None => card(rng),
        Some(wanted) => {
            let known = |card: &&Card| same(card.id, wanted) || same(card.name, wanted);
            CARDS.iter().find(known).ok_or_else(|| {
                let ids: Vec<_> = CARDS.iter().map(|card| card.id).collect();
                format!("\"{wanted}\" is not a type of card; these are: {}", ids.join(", "))
            })?
        }
    };
    let start = match rng.choice(bins) {
        None => pick(rng, card.starts),
        Some(bin) if bin.len() < card.length && bin.bytes().all(|b| b.is_ascii_digit()) => {
            bin.as_str()
        }
        Some(bin) => {
            return Err(format!(
                "a number cannot begin with \"{bin}\": digits are needed, fewer than the card has"
            ));
        }
    };
    Ok(card_number(rng, card, start, has_gaps).into())
}

const BASE58: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

fn base58(rng: &mut Rng, length: usize) -> String {
    (0..length).map(|_| rng.choice(BASE58).copied().map_or('1', char::from)).collect()
}

/// Eight digits and one that makes the weighted sum (3, 7, 1) a multiple of ten.
fn routing_number(rng: &mut Rng) -> String {
    let mut digits =
        format!("{}{}", pick(rng, "01|02|03|04|05|06|07|08|09|10|11|12"), number_text(rng, 6));
    let sum: u32 =
        digits.bytes().zip([3, 7, 1].into_iter().cycle()).map(|(sign, by)| worth(sign) * by).sum();
    digits.push(digit((10 - sum % 10) % 10));
    digits
}

const CURRENCIES: &str = "AED=UAE Dirham|ARS=Argentine Peso|AUD=Australian Dollar|BGN=Bulgarian Lev|BRL=Brazilian Real|CAD=Canadian Dollar|CHF=Swiss Franc|CLP=Chilean Peso|\
    CNY=Chinese Yuan|COP=Colombian Peso|CZK=Czech Koruna|DKK=Danish Krone|EGP=Egyptian Pound|EUR=Euro|GBP=Pound Sterling|HKD=Hong Kong Dollar|HUF=Hungarian Forint|\
    IDR=Indonesian Rupiah|ILS=Israeli New Shekel|INR=Indian Rupee|ISK=Icelandic Krona|JPY=Japanese Yen|KES=Kenyan Shilling|KRW=South Korean Won|MAD=Moroccan Dirham|\
    MXN=Mexican Peso|MYR=Malaysian Ringgit|NGN=Nigerian Naira|NOK=Norwegian Krone|NZD=New Zealand Dollar|PEN=Peruvian Sol|PHP=Philippine Peso|PKR=Pakistani Rupee|\
    PLN=Polish Zloty|RON=Romanian Leu|RSD=Serbian Dinar|SEK=Swedish Krona|SGD=Singapore Dollar|THB=Thai Baht|TRY=Turkish Lira|TWD=New Taiwan Dollar|UAH=Ukrainian Hryvnia|\
    USD=United States Dollar|UYU=Uruguayan Peso|VND=Vietnamese Dong|ZAR=South African Rand";

pub(super) const FINANCE: &[Row] = &[text("cusip", cusip), text("isin", isin)];

const NUMBER: &[Argument] = &[
    argument("types", Kind::Texts(Some(&[]))),
    argument("bins", Kind::Texts(Some(&[]))),
    argument("gaps", Kind::Flag(false)),
];
const PRICE: &[Argument] =
    &[argument("min", Kind::Number(0.0)), argument("max", Kind::Number(1000.0))];

pub(super) const PAYMENT: &[Row] = &[
    text("achAccountNumber", |rng| number_like(rng, "###########")),
    text("achRoutingNumber", routing_number),
    text("bitcoinAddress", |rng| {
        let length = rng.usize(25..34);
        format!("{}{}", pick(rng, "1|3"), base58(rng, length))
    }),
    text("bitcoinPrivateKey", |rng| format!("5{}{}", pick(rng, "H|J|K"), base58(rng, 49))),
    plain("creditCard", credit_card),
    text("creditCardCVV", |rng| number_text(rng, 3)),
    text("creditCardExp", expiry),
    text("creditCardExpMonth", |rng| format!("{:02}", rng.u8(1..13))),
    text("creditCardExpYear", expiry_year),
    with("creditCardNumber", NUMBER, |asked| {
        wanted_number(asked.rng, asked.given.texts(0), asked.given.texts(1), asked.given.flag(2))
    }),
    text("creditCardNumberFormatted", |rng| {
        let card = card(rng);
        let start = pick(rng, card.starts);
        card_number(rng, card, start, true).replace(' ', "-")
    }),
    text("creditCardType", |rng| card(rng).name.to_owned()),
    plain("currency", |rng| {
        let (short, long) = pick_pair(rng, CURRENCIES);
        Out::record([("Short", short.into()), ("Long", long.into())])
    }),
    text("currencyLong", |rng| pick_pair(rng, CURRENCIES).1.to_owned()),
    text("currencyShort", |rng| pick_pair(rng, CURRENCIES).0.to_owned()),
    with("price", PRICE, |asked| {
        let (min, max) = asked.given.range(-1e12, 1e12)?;
        Ok(rounded(between(asked.rng, min, max), 2).clamp(min, max).into())
    }),
];
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_digits_are_those_of_published_examples() {
        // The number of Luhn's own example, and the ISIN and CUSIP of a well-known share.
        assert_eq!(luhn("7992739871"), '3');
        let numbers: String = "US037833100".bytes().map(|sign| worth(sign).to_string()).collect();
        assert_eq!(luhn(&numbers), '5');
    }
}
