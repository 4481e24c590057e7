//! Each function of the extension's published declarations, without arguments and with all of them.

use std::collections::BTreeSet;

use super::*;
use crate::harness::{all, text, vm};

/// The declarations: the functions of each category, with their types if they do not give texts. `month` is declared
/// as a text and `randomString` as a list of them; the examples of the declarations show the other type for both.
const DECLARED: &[(&str, &str)] = &[
    (
        "address",
        "address:o city country countryAbbreviation latitude:n latitudeRange:n longitude:n longitudeRange:n state \
        stateAbbreviation street streetName streetNumber streetPrefix streetSuffix zip",
    ),
    ("animal", "animal animalType bird cat dog farmAnimal petName"),
    ("app", "appAuthor appName appVersion"),
    ("beer", "beerAlcohol beerBlg beerHop beerIbu beerMalt beerName beerStyle beerYeast"),
    ("book", "book:o bookAuthor bookGenre bookTitle"),
    ("br", "brCity brCnpj brCpf brPhoneNumber brRg brSearchTerm brState brStateAbbr brZipCode"),
    ("car", "car:o carFuelType carMaker carModel carTransmissionType carType"),
    ("celebrity", "celebrityActor celebrityBusiness celebritySport"),
    ("color", "color hexColor niceColors:s[] rgbColor:n[] safeColor"),
    (
        "company",
        "blurb bs buzzword company companySuffix job:o jobDescriptor jobLevel jobTitle slogan",
    ),
    ("emoji", "emoji emojiAlias emojiCategory emojiDescription emojiTag"),
    (
        "error",
        "databaseError error errorObjectWord gRPCError httpClientError httpError httpServerError runtimeError validationError",
    ),
    ("file", "fileExtension fileMimeType"),
    ("finance", "cusip isin"),
    ("food", "breakfast dessert dinner drink fruit lunch snack vegetable"),
    ("game", "dice:n[] gamertag"),
    (
        "hacker",
        "hackerAbbreviation hackerAdjective hackerNoun hackerPhrase hackerVerb hackeringVerb",
    ),
    ("hipster", "hipsterParagraph hipsterSentence hipsterWord"),
    (
        "internet",
        "chromeUserAgent domainName domainSuffix firefoxUserAgent httpMethod httpStatusCode:n httpStatusCodeSimple:n httpVersion \
        imageUrl inputName ipv4Address ipv6Address logLevel macAddress operaUserAgent password safariUserAgent url userAgent username",
    ),
    ("language", "language languageAbbreviation languageBcp programmingLanguage"),
    (
        "minecraft",
        "minecraftAnimal minecraftArmorPart minecraftArmorTier minecraftBiome minecraftDye minecraftFood minecraftMobBoss \
        minecraftMobHostile minecraftMobNeutral minecraftMobPassive minecraftOre minecraftTool minecraftVillagerJob minecraftVillagerLevel \
        minecraftVillagerStation minecraftWeapon minecraftWeather minecraftWood",
    ),
    ("movie", "movie:o movieGenre movieName"),
    (
        "numbers",
        "boolean:b float32:n float32Range:n float64:n float64Range:n hexUint128 hexUint16 hexUint256 hexUint32 hexUint64 hexUint8 \
        int16:n int32:n int64:n int8:n intRange:n number:n randomInt:n randomUint:n shuffleInts:n[] uint16:n uint32:n uint64:n uint8:n uintRange:n",
    ),
    (
        "payment",
        "achAccountNumber achRoutingNumber bitcoinAddress bitcoinPrivateKey creditCard:o creditCardCVV creditCardExp creditCardExpMonth \
        creditCardExpYear creditCardNumber creditCardNumberFormatted creditCardType currency:o currencyLong currencyShort price:n",
    ),
    (
        "person",
        "email firstName gender hobby lastName middleName name namePrefix nameSuffix person:o phone phoneFormatted school ssn teams:o",
    ),
    (
        "product",
        "product:o productCategory productDescription productFeature productMaterial productName productUpc",
    ),
    ("strings", "digit digitN letter letterN lexify numerify randomString shuffleStrings:s[] uuid"),
    (
        "time",
        "date dateRange day:n futureTime hour:n minute:n month:n monthString nanosecond:n pastTime second:n timezone timezoneAbbreviation \
        timezoneFull timezoneOffset:n timezoneRegion weekday year:n",
    ),
    (
        "word",
        "actionVerb adjective adverb adverbDegree adverbFrequencyDefinite adverbFrequencyIndefinite adverbManner adverbPhrase adverbPlace \
        adverbTimeDefinite adverbTimeIndefinite comment connective connectiveCasual connectiveComparitive connectiveComplaint connectiveExamplify \
        connectiveListing connectiveTime demonstrativeAdjective descriptiveAdjective helpingVerb indefiniteAdjective interjection \
        interrogativeAdjective intransitiveVerb linkingVerb loremIpsumParagraph loremIpsumSentence loremIpsumWord noun nounAbstract \
        nounCollectiveAnimal nounCollectivePeople nounCollectiveThing nounCommon nounConcrete nounCountable nounDeterminer nounPhrase nounProper \
        nounUncountable paragraph phrase possessiveAdjective preposition prepositionCompound prepositionDouble prepositionPhrase \
        prepositionSimple pronoun pronounDemonstrative pronounIndefinite pronounInterrogative pronounObject pronounPersonal pronounPossessive \
        pronounReflective pronounRelative properAdjective quantitativeAdjective question quote sentence simpleSentence transitiveVerb verb \
        verbPhrase word",
    ),
];

/// Arguments that the declarations show, for functions that have some.
const SHOWN: &[(&str, &str)] = &[
    ("latitudeRange", "0,90"),
    ("longitudeRange", "0,180"),
    ("brCnpj", "true,false"),
    ("brCpf", "true"),
    ("brPhoneNumber", "true"),
    ("brSearchTerm", "'random'"),
    ("dice", "1,[5,4,13]"),
    ("hipsterParagraph", "2,2,5,'<br />'"),
    ("hipsterSentence", "5"),
    ("imageUrl", "500,500"),
    ("password", "true,false,true,true,false,12"),
    ("float32Range", "3,5"),
    ("float64Range", "3,5"),
    ("intRange", "3,5"),
    ("number", "-2147483648,2147483647"),
    ("randomInt", "[14,8,13]"),
    ("randomUint", "[14,8,13]"),
    ("shuffleInts", "[14,8,13]"),
    ("uintRange", "0,4294967295"),
    ("creditCardNumber", "['visa','jcb'],['4111'],false"),
    ("price", "0,1000"),
    ("teams", "['a','b','c','d'],['x','y']"),
    ("digitN", "3"),
    ("letterN", "3"),
    ("lexify", "'a?'"),
    ("numerify", "'a#'"),
    ("randomString", "['a','b']"),
    ("shuffleStrings", "['a','b']"),
    ("date", "'RFC3339'"),
    ("dateRange", "'1970-01-01','2024-03-13','yyyy-MM-dd'"),
    ("loremIpsumParagraph", "2,2,5,'<br />'"),
    ("loremIpsumSentence", "5"),
    ("paragraph", "2,2,5,'<br />'"),
    ("sentence", "5"),
];
/// Those that make no sense without their argument.
const NEEDY: &[&str] = &[
    "lexify",
    "numerify",
    "randomInt",
    "randomString",
    "randomUint",
    "shuffleInts",
    "shuffleStrings",
    "teams",
];

const TYPE: &str = "function typed(v) {
    const one = (v) => typeof v === 'string' ? (v === '' ? 'empty' : 's')
        : typeof v === 'number' ? (Number.isFinite(v) ? 'n' : 'NaN') : typeof v === 'boolean' ? 'b' : 'o';
    return Array.isArray(v) ? [...new Set(v.map(one))] + '[]' : one(v);
}";

fn made() -> brunt_quickjs::Vm {
    vm(|ctx| {
        let made = faker(ctx, 11)?;
        Exports.fill(ctx, &made)?;
        ctx.global().define("faker", made)?;
        ctx.global().define("Faker", ctx.global().get("faker")?.get("Faker")?)?;
        ctx.eval("type.js", TYPE).map(drop)
    })
}

#[test]
fn each_declared_function_gives_its_type() {
    let vm = made();
    for (category, functions) in DECLARED {
        for function in functions.split_whitespace() {
            let (name, kind) = function.split_once(':').unwrap_or((function, "s"));
            let shown = SHOWN.iter().find(|(known, _)| *known == name);
            for (place, arguments) in [(*category, ""), ("zen", "")]
                .into_iter()
                .filter(|_| !NEEDY.contains(&name))
                .chain(shown.iter().flat_map(|(_, shown)| [(*category, *shown), ("zen", *shown)]))
            {
                let asked = format!("typed(faker.{place}.{name}({arguments}))");
                // Often enough to meet rare values.
                for _ in 0..20 {
                    assert_eq!(text(vm.ctx(), &asked), kind, "{asked}");
                }
            }
            if NEEDY.contains(&name) {
                let told = text(vm.ctx(), &format!("faker.{category}.{name}()"));
                assert!(told.contains(&format!("k6/x/faker: {name}: the argument")), "{told}");
                assert!(told.ends_with("is needed"), "{told}");
            }
        }
    }
}

#[test]
fn the_tables_have_the_declared_functions_and_no_others() {
    let mut seen = BTreeSet::new();
    assert_eq!(GROUPS.len(), DECLARED.len());
    for ((group, rows), (category, functions)) in GROUPS.iter().zip(DECLARED) {
        assert_eq!(group, category);
        let here: Vec<_> = rows.iter().map(|row| row.name).collect();
        let declared: Vec<_> = functions
            .split_whitespace()
            .map(|function| function.split(':').next().unwrap_or(function))
            .collect();
        assert_eq!(here, declared, "{group}");
        for row in *rows {
            assert!(seen.insert(row.name), "{} is in two categories", row.name);
            let shown = SHOWN.iter().any(|(name, _)| *name == row.name);
            assert_eq!(shown, !row.arguments().is_empty(), "{}", row.name);
            if let Make::Pick(list) = row.make {
                assert!(
                    list.split('|').all(|entry| entry == entry.trim() && !entry.is_empty()),
                    "{}",
                    row.name
                );
            }
        }
    }
    let vm = made();
    let count = seen.len().to_string();
    assert_eq!(text(vm.ctx(), "Object.keys(faker.zen).length"), count);
}

#[test]
fn a_seed_gives_the_same_values_again() {
    let source = "(() => { const f = new Faker(42); return Object.keys(f.zen).map((name) => {
        const given = { lexify: ['a??'], numerify: ['##'], randomInt: [[1, 2, 3]], randomUint: [[1, 2, 3]], shuffleInts: [[1, 2, 3]],
            randomString: [['a', 'b']], shuffleStrings: [['a', 'b', 'c']], teams: [['a', 'b', 'c'], ['x', 'y']] }[name] || [];
        return /Time$/.test(name) ? '' : JSON.stringify(f.call(name, ...given)); }).join(); })()";
    let (first, second) = (text(made().ctx(), source), text(made().ctx(), source));
    assert!(first.len() > 5000, "{first}");
    assert_eq!(first, second);
    let vm = made();
    all(
        &vm,
        &[
            ("new Faker(1).word.sentence(30) === new Faker(2).word.sentence(30)", "false"),
            ("new Faker().word.sentence(30) === new Faker().word.sentence(30)", "false"),
            ("new Faker(0).strings.uuid() === new Faker(0).strings.uuid()", "false"),
            ("new Faker(-7).strings.uuid() === new Faker(-7).strings.uuid()", "true"),
            ("new Faker(5).person.email() === new Faker(5).zen.email()", "true"),
            ("new Faker(5).person.email() === new Faker(5).call('EMAIL')", "true"),
            ("new Faker(5).number.int8() === new Faker(5).numbers.int8()", "true"),
            (
                "class Mine extends Faker { }; new Mine(3) instanceof Mine && new Mine(3).person.name().length > 3",
                "true",
            ),
        ],
    );
}

#[test]
fn what_makes_no_sense_is_told() {
    let vm = made();
    for (source, part) in [
        ("faker.call('nope')", "k6/x/faker: there is no function \"nope\""),
        ("new Faker('x')", "the seed of a Faker is a number"),
        ("faker.numbers.intRange(5, 3)", "min, which is 5, is above max, which is 3"),
        ("faker.numbers.intRange(3.2, 3.8)", "no whole number"),
        ("faker.numbers.number(NaN, 3)", "the argument min is not a number"),
        ("faker.address.latitudeRange(-100, 3)", "from -90 to 90"),
        ("faker.strings.digitN(1e9)", "it goes from 0 to 1000000"),
        ("faker.strings.letterN(-1)", "it goes from 0 to 1000000"),
        ("faker.word.paragraph(1e6, 1e6, 1e6)", "more than 1000000 words"),
        ("faker.game.dice(2, [])", "sides is empty"),
        ("faker.game.dice(2, [0])", "no 0 sides"),
        ("faker.numbers.randomInt([])", "ints is empty"),
        ("faker.numbers.randomInt([1, 'x'])", "an entry that is not a number"),
        ("faker.numbers.randomInt(3)", "is not an array"),
        ("faker.numbers.randomUint([-1])", "below 0"),
        ("faker.person.teams(['a'], [])", "teams is empty"),
        ("faker.payment.creditCardNumber(['none'])", "\"none\" is not a type of card"),
        ("faker.payment.creditCardNumber(['visa'], ['unless'])", "cannot begin with"),
        ("faker.time.dateRange('yesterday', 'today', 'yyyy')", "startdate is \"yesterday\""),
        ("faker.time.dateRange('2025-01-01', '2024-01-01', 'yyyy')", "startdate is after enddate"),
        ("faker.numbers.intRange({ valueOf() { throw new Error('mine') } }, 3)", "mine"),
        ("faker.call.call({}, 'email')", "method of a Faker"),
        ("'use strict'; faker.person.email = 1", "cannot be replaced"),
    ] {
        let told = text(vm.ctx(), source);
        assert!(told.starts_with("threw ") && told.contains(part), "{source}: {told}");
    }
    // A conversion may ask the same generator.
    all(
        &vm,
        &[
            (
                "faker.numbers.intRange({ valueOf() { return faker.numbers.intRange(3, 3); } }, 3)",
                "3",
            ),
            ("faker.person.nope", "undefined"),
            (
                "typed(faker.time.date('yyyy-MM-dd')) + typed(faker.numbers.float64Range(-1.7e308, 1.7e308))",
                "sn",
            ),
        ],
    );
}

#[test]
fn values_keep_their_rules() {
    let vm = made();
    all(
        &vm,
        &[
            (
                "let luhn = (n) => [...n].reverse().reduce((s, d, i) => s + (i % 2 ? [0,2,4,6,8,1,3,5,7,9][d] : +d), 0) % 10;
                 let bad = 0; for (let i = 0; i < 500; i++) bad += luhn(faker.payment.creditCardNumber()) !== 0; bad",
                "0",
            ),
            (
                "let cpf = (n) => [9, 10].every((k) => {
                    const s = [...n].slice(0, k).reduce((s, d, i) => s + d * (k + 1 - i), 0) * 10 % 11 % 10; return s == n[k]; });
                 bad = 0; for (let i = 0; i < 500; i++) bad += !cpf(faker.br.brCpf(false)); bad",
                "0",
            ),
            (
                "bad = 0; for (let i = 0; i < 500; i++) {
                    bad += !/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(faker.strings.uuid());
                    bad += !/^[a-z]+@[a-z]+\\.[a-z]+$/.test(faker.person.email());
                    bad += !/^\\d{2}\\.\\d{3}\\.\\d{3}\\/\\d{4}-\\d{2}$/.test(faker.br.brCnpj(true, false));
                    bad += !/^[0-9A-Z]{12}\\d{2}$/.test(faker.br.brCnpj(false, true));
                    bad += !/^[a-z0-9]{20}$/.test(faker.internet.password(true, false, true, false, false, 20));
                    const d = faker.time.dateRange('2024-02-28', '2024-03-01', 'yyyy-MM-dd'); bad += d < '2024-02-28' || d > '2024-03-01';
                    const n = faker.numbers.intRange(-2, 2); bad += n < -2 || n > 2 || n % 1 !== 0;
                 } bad",
                "0",
            ),
            ("faker.word.sentence(5).split(/[ ]/).length >= 5", "true"),
            ("faker.word.loremIpsumParagraph(2, 3, 4, '|').split('|').map((p) => p.split('. ').length).join()", "3,3"),
            ("Object.values(faker.person.teams(['a','b','c','d'], ['x','y'])).flat().sort().join()", "a,b,c,d"),
            ("faker.numbers.shuffleInts([3,1,2]).sort().join()", "1,2,3"),
            ("let names = new Set(); for (let i = 0; i < 500; i++) names.add(faker.person.firstName()); names.size > 40", "true"),
            ("Object.keys(faker.address.address()).join()", "Address,Street,City,State,Zip,Country,Latitude,Longitude"),
        ],
    );
}
