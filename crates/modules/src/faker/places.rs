//! Addresses, of anywhere and of Brazil.

use super::row::{
    Argument, Kind, Out, Rng, Row, argument, between, list, number, pattern, pick, pick_pair,
    plain, rounded, text, with,
};

const CITIES: &str = "Accra|Adelaide|Albany|Amsterdam|Athens|Auckland|Austin|Baltimore|Barcelona|Bergen|Berlin|Birmingham|Boise|Bogota|Boston|Bristol|Brussels|Budapest|\
    Cairo|Calgary|Cape Town|Cardiff|Chicago|Cleveland|Cologne|Copenhagen|Dallas|Denver|Detroit|Dublin|Edinburgh|El Paso|Florence|Fresno|Geneva|Glasgow|Hamburg|\
    Hanoi|Helsinki|Honolulu|Houston|Istanbul|Kyoto|Lagos|Lima|Lisbon|London|Lyon|Madison|Madrid|Manila|Melbourne|Memphis|Miami|Milan|Montreal|Mumbai|Munich|\
    Nairobi|Nashville|Oakland|Oslo|Ottawa|Paris|Perth|Phoenix|Porto|Portland|Prague|Quito|Reno|Riga|Rome|Rotterdam|Salem|Santiago|Seattle|Seoul|Seville|\
    Singapore|Sofia|Spokane|Stockholm|Sydney|Tampa|Tokyo|Toronto|Tucson|Turin|Utrecht|Valencia|Vancouver|Vienna|Vilnius|Warsaw|Wellington|York|Zagreb|Zurich";
const COUNTRIES: &str = "AR=Argentina|AT=Austria|AU=Australia|BD=Bangladesh|BE=Belgium|BG=Bulgaria|BO=Bolivia|BR=Brazil|CA=Canada|CH=Switzerland|CL=Chile|CN=China|CO=Colombia|\
    CR=Costa Rica|CU=Cuba|CY=Cyprus|CZ=Czechia|DE=Germany|DK=Denmark|EC=Ecuador|EE=Estonia|EG=Egypt|ES=Spain|ET=Ethiopia|FI=Finland|FJ=Fiji|FR=France|\
    GB=United Kingdom|GH=Ghana|GR=Greece|HR=Croatia|HU=Hungary|ID=Indonesia|IE=Ireland|IL=Israel|IN=India|IS=Iceland|IT=Italy|JM=Jamaica|JO=Jordan|JP=Japan|\
    KE=Kenya|KR=South Korea|LT=Lithuania|LU=Luxembourg|LV=Latvia|MA=Morocco|MG=Madagascar|MN=Mongolia|MT=Malta|MX=Mexico|MY=Malaysia|NA=Namibia|NG=Nigeria|\
    NL=Netherlands|NO=Norway|NP=Nepal|NZ=New Zealand|OM=Oman|PA=Panama|PE=Peru|PH=Philippines|PK=Pakistan|PL=Poland|PT=Portugal|PY=Paraguay|RO=Romania|\
    RS=Serbia|RW=Rwanda|SE=Sweden|SG=Singapore|SI=Slovenia|SK=Slovakia|SN=Senegal|TG=Togo|TH=Thailand|TN=Tunisia|TO=Tonga|TR=Turkey|TZ=Tanzania|UA=Ukraine|\
    UG=Uganda|US=United States of America|UY=Uruguay|VN=Vietnam|ZA=South Africa|ZM=Zambia";
const STATES: &str = "AL=Alabama|AK=Alaska|AZ=Arizona|AR=Arkansas|CA=California|CO=Colorado|CT=Connecticut|DE=Delaware|FL=Florida|GA=Georgia|HI=Hawaii|ID=Idaho|IL=Illinois|\
    IN=Indiana|IA=Iowa|KS=Kansas|KY=Kentucky|LA=Louisiana|ME=Maine|MD=Maryland|MA=Massachusetts|MI=Michigan|MN=Minnesota|MS=Mississippi|MO=Missouri|\
    MT=Montana|NE=Nebraska|NV=Nevada|NH=New Hampshire|NJ=New Jersey|NM=New Mexico|NY=New York|NC=North Carolina|ND=North Dakota|OH=Ohio|OK=Oklahoma|\
    OR=Oregon|PA=Pennsylvania|RI=Rhode Island|SC=South Carolina|SD=South Dakota|TN=Tennessee|TX=Texas|UT=Utah|VT=Vermont|VA=Virginia|WA=Washington|\
    WV=West Virginia|WI=Wisconsin|WY=Wyoming";
const STREETS: &str = "Alder|Apple|Ash|Barley|Bay|Beacon|Bell|Birch|Bridge|Brook|Canal|Castle|Cedar|Chapel|Cherry|Church|Clover|College|Copper|Cross|Elm|Farm|Fern|Field|\
    Forest|Fountain|Garden|Glen|Hawthorn|Hazel|High|Hill|Holly|Lake|Laurel|Linden|Maple|Market|Meadow|Mill|Oak|Orchard|Park|Pine|Quarry|River|Rose|School|\
    Spring|Station|Summit|Tower|Valley|Vine|Walnut|Water|Willow";
const STREET_PREFIX: &str = "East|West|North|South|Upper|Lower|Old|New|Great|Little";
const STREET_SUFFIX: &str = "Avenue|Boulevard|Circle|Court|Crescent|Drive|Lane|Place|Road|Row|Square|Street|Terrace|Walk|Way";

const BR_CITIES: &str = "Aracaju|Belo Horizonte|Belém|Blumenau|Boa Vista|Brasília|Campinas|Campo Grande|Caxias do Sul|Cuiabá|Curitiba|Feira de Santana|Florianópolis|Fortaleza|Goiânia|\
    João Pessoa|Joinville|Juiz de Fora|Londrina|Macapá|Maceió|Manaus|Maringá|Natal|Niterói|Olinda|Palmas|Pelotas|Petrópolis|Porto Alegre|Porto Velho|Recife|\
    Ribeirão Preto|Rio Branco|Rio de Janeiro|Salvador|Santos|São José dos Campos|São Luís|São Paulo|Sorocaba|Teresina|Uberlândia|Vitória";
const BR_STATES: &str = "AC=Acre|AL=Alagoas|AP=Amapá|AM=Amazonas|BA=Bahia|CE=Ceará|DF=Distrito Federal|ES=Espírito Santo|GO=Goiás|MA=Maranhão|MT=Mato Grosso|\
    MS=Mato Grosso do Sul|MG=Minas Gerais|PA=Pará|PB=Paraíba|PR=Paraná|PE=Pernambuco|PI=Piauí|RJ=Rio de Janeiro|RN=Rio Grande do Norte|RS=Rio Grande do Sul|\
    RO=Rondônia|RR=Roraima|SC=Santa Catarina|SP=São Paulo|SE=Sergipe|TO=Tocantins";
const BR_AREAS: &str = "11|13|19|21|24|27|31|32|34|41|43|47|48|51|54|61|62|65|67|68|71|75|79|81|82|83|84|85|86|91|92|95|96|98";
const BR_TERMS: &str = "air fryer|bicicleta|bolsa feminina|cadeira gamer|cafeteira|caixa de som|camiseta|celular|chinelo|cobertor|colchão|fone de ouvido|geladeira|guarda-roupa|\
    impressora|jaqueta|liquidificador|livro infantil|mala de viagem|mochila|monitor|notebook|óculos de sol|panela elétrica|perfume|relógio|sofá|tablet|televisão|tênis|ventilador|violão";

fn latitude(rng: &mut Rng) -> f64 {
    rounded(between(rng, -90.0, 90.0), 6)
}

fn longitude(rng: &mut Rng) -> f64 {
    rounded(between(rng, -180.0, 180.0), 6)
}

fn street_number(rng: &mut Rng) -> String {
    rng.u32(1..10_000).to_string()
}

fn street(rng: &mut Rng) -> String {
    let (number, name) = (street_number(rng), pick(rng, STREETS));
    let suffix = pick(rng, STREET_SUFFIX);
    if rng.u8(..3) == 0 {
        return format!("{number} {} {name} {suffix}", pick(rng, STREET_PREFIX));
    }
    format!("{number} {name} {suffix}")
}

fn zip(rng: &mut Rng) -> String {
    pattern(rng, "#####")
}

pub(super) fn address(rng: &mut Rng) -> Out {
    let (street, city) = (street(rng), pick(rng, CITIES));
    let (state, zip) = (pick_pair(rng, STATES).1, zip(rng));
    Out::record([
        ("Address", format!("{street}, {city}, {state} {zip}").into()),
        ("Street", street.into()),
        ("City", city.into()),
        ("State", state.into()),
        ("Zip", zip.into()),
        ("Country", pick_pair(rng, COUNTRIES).1.into()),
        ("Latitude", latitude(rng).into()),
        ("Longitude", longitude(rng).into()),
    ])
}

const LATITUDES: &[Argument] =
    &[argument("min", Kind::Number(0.0)), argument("max", Kind::Number(90.0))];
const LONGITUDES: &[Argument] =
    &[argument("min", Kind::Number(0.0)), argument("max", Kind::Number(180.0))];

pub(super) const ADDRESS: &[Row] = &[
    plain("address", address),
    list("city", CITIES),
    text("country", |rng| pick_pair(rng, COUNTRIES).1.to_owned()),
    text("countryAbbreviation", |rng| pick_pair(rng, COUNTRIES).0.to_owned()),
    number("latitude", latitude),
    with("latitudeRange", LATITUDES, |asked| {
        let (min, max) = asked.given.range(-90.0, 90.0)?;
        Ok(rounded(between(asked.rng, min, max), 6).clamp(min, max).into())
    }),
    number("longitude", longitude),
    with("longitudeRange", LONGITUDES, |asked| {
        let (min, max) = asked.given.range(-180.0, 180.0)?;
        Ok(rounded(between(asked.rng, min, max), 6).clamp(min, max).into())
    }),
    text("state", |rng| pick_pair(rng, STATES).1.to_owned()),
    text("stateAbbreviation", |rng| pick_pair(rng, STATES).0.to_owned()),
    text("street", street),
    list("streetName", STREETS),
    text("streetNumber", street_number),
    list("streetPrefix", STREET_PREFIX),
    list("streetSuffix", STREET_SUFFIX),
    text("zip", zip),
];

/// The check digit of Brazil's registers: the remainder of 11 of a weighted sum.
fn check(values: &[u8], weights: impl Iterator<Item = u32>) -> u8 {
    let sum: u32 =
        values.iter().zip(weights).map(|(&value, weight)| u32::from(value) * weight).sum();
    match sum % 11 {
        0 | 1 => 0,
        rest => (11 - rest) as u8,
    }
}

/// The value of a sign of a register's number: its distance from `0`.
fn shown(values: &[u8]) -> Vec<char> {
    values.iter().map(|&value| char::from(b'0' + value)).collect()
}

/// Puts the signs in the places of `#`.
fn placed(signs: &[char], form: &str) -> String {
    let mut signs = signs.iter().copied();
    form.chars().map(|sign| if sign == '#' { signs.next().unwrap_or('0') } else { sign }).collect()
}

fn cpf(rng: &mut Rng, is_formatted: bool) -> String {
    let mut values: Vec<u8> = (0..9).map(|_| rng.u8(..10)).collect();
    // From the left, 10 to 2 and then 11 to 2.
    values.push(check(&values, (2..=10).rev()));
    values.push(check(&values, (2..=11).rev()));
    placed(&shown(&values), if is_formatted { "###.###.###-##" } else { "###########" })
}

fn cnpj(rng: &mut Rng, is_formatted: bool, has_letters: bool) -> String {
    let mut values: Vec<u8> = (0..12)
        .map(|_| match rng.u8(..if has_letters { 36 } else { 10 }) {
            // A letter's sign is this far from that of 0.
            letter @ 10.. => letter - 10 + (b'A' - b'0'),
            digit => digit,
        })
        .collect();
    // From the right, 2 to 9 and again.
    let weights = |count: usize| (0..count).rev().map(|place| 2 + (place % 8) as u32);
    values.push(check(&values, weights(12)));
    values.push(check(&values, weights(13)));
    placed(&shown(&values), if is_formatted { "##.###.###/####-##" } else { "##############" })
}

pub(super) const BRAZIL: &[Row] = &[
    list("brCity", BR_CITIES),
    with(
        "brCnpj",
        &[argument("formatted", Kind::Flag(true)), argument("alphanumeric", Kind::Flag(false))],
        |asked| Ok(cnpj(asked.rng, asked.given.flag(0), asked.given.flag(1)).into()),
    ),
    with("brCpf", &[argument("formatted", Kind::Flag(true))], |asked| {
        Ok(cpf(asked.rng, asked.given.flag(0)).into())
    }),
    with("brPhoneNumber", &[argument("mobile", Kind::Flag(true))], |asked| {
        let area = pick(asked.rng, BR_AREAS);
        let number =
            pattern(asked.rng, if asked.given.flag(0) { "9####-####" } else { "3###-####" });
        Ok(format!("({area}) {number}").into())
    }),
    text("brRg", |rng| pattern(rng, "#########")),
    with("brSearchTerm", &[argument("mode", Kind::Text(Some("random")))], |asked| {
        Ok(pick(asked.rng, BR_TERMS).into())
    }),
    text("brState", |rng| pick_pair(rng, BR_STATES).1.to_owned()),
    text("brStateAbbr", |rng| pick_pair(rng, BR_STATES).0.to_owned()),
    text("brZipCode", |rng| pattern(rng, "#####-###")),
];
