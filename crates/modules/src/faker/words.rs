//! Words, sentences and paragraphs: of English, of placeholder text, of hipsters and of hackers.

use super::people;
use super::row::{
    Argument, Asked, Kind, MOST, Out, Rng, Row, argument, capital, list, pick, text, with,
};

const ACTION: &str = "bake|bend|build|carry|catch|chase|climb|cook|cut|dance|draw|drive|drop|fetch|fold|gather|grab|hammer|jump|kick|\
    knit|lift|march|mend|paint|plant|polish|pour|pull|push|row|run|sew|sweep|swim|throw|tie|walk|wash|write";
const TRANSITIVE: &str = "admire|borrow|bring|buy|choose|clean|collect|discuss|examine|find|follow|greet|hold|invite|join|keep|lend|love|\
    measure|notice|offer|open|order|pack|praise|read|repair|send|sell|thank|trust|visit|warn|weigh";
const INTRANSITIVE: &str = "arrive|blink|bloom|breathe|cough|crawl|disappear|doze|fall|float|giggle|glow|hesitate|kneel|laugh|linger|\
    nod|pause|rest|rise|shiver|sigh|sit|sleep|sneeze|snore|stand|stumble|travel|vanish|wait|yawn";
const LINKING: &str = "am|is|are|was|were|be|become|became|seem|seemed|appear|appeared|look|looked|feel|felt|remain|stay|grow|prove|sound|taste";
const HELPING: &str = "am|is|are|was|were|be|been|has|have|had|do|does|did|can|could|may|might|must|shall|should|will|would";
const DESCRIPTIVE: &str = "amber|ancient|bitter|bold|bright|broad|calm|careful|cheap|clever|cold|crisp|curious|damp|dark|deep|dusty|eager|empty|\
    fair|faint|famous|fierce|fresh|gentle|giant|glad|golden|grand|heavy|honest|hungry|icy|kind|large|lazy|light|lively|lonely|loud|lucky|\
    mellow|narrow|neat|noisy|odd|old|patient|plain|polite|proud|quick|quiet|rare|rough|round|sharp|shy|silent|simple|small|smooth|soft|\
    steep|strange|strong|sweet|tall|thin|tidy|tiny|warm|wild|wise|young";
const QUANTITATIVE: &str = "all|any|both|double|each|enough|few|half|hundreds of|little|many|more|most|much|no|plenty of|several|some|ten|three|twice|two|whole";
const PROPER: &str = "African|Alpine|Andean|Arctic|Asian|Australian|Balkan|Baltic|Belgian|Brazilian|Canadian|Caribbean|Chilean|Danish|Dutch|Egyptian|\
    Finnish|Greek|Icelandic|Indian|Irish|Japanese|Kenyan|Mexican|Nordic|Peruvian|Polish|Roman|Scottish|Spanish|Swiss|Victorian|Welsh";
const DEMONSTRATIVE: &str = "this|that|these|those|such|the other";
const POSSESSIVE: &str = "my|your|his|her|its|our|their|whose";
const INTERROGATIVE: &str = "what|which|whose|how many|how much";
const INDEFINITE: &str =
    "all|another|any|each|either|every|few|many|neither|one|other|several|some";

const ABSTRACT: &str = "ambition|anger|beauty|belief|bravery|chance|charm|comfort|courage|curiosity|danger|doubt|dream|duty|envy|faith|fate|fear|freedom|\
    friendship|grief|growth|habit|honesty|hope|humour|idea|joy|justice|kindness|knowledge|luck|memory|mercy|patience|peace|pride|reason|silence|\
    skill|success|talent|trust|truth|wisdom|wonder";
const ANIMALS_OF: &str = "herd|flock|pack|swarm|shoal|pride|colony|litter|gaggle|murder|parliament|pod|brood|drove|school|team|nest|army|covey|kennel";
const PEOPLE_OF: &str = "crowd|team|band|choir|crew|staff|jury|class|gang|troop|cast|panel|board|company|congregation|committee|audience|squad|party|host";
const THINGS_OF: &str = "bunch|bundle|cluster|stack|pile|heap|set|fleet|pack|deck|string|row|batch|range|collection|library|wad|crate|basket|block";
const COMMON: &str = "answer|apple|artist|baker|basket|beach|bird|boat|book|box|bridge|brother|child|city|clock|cloud|coat|corner|cousin|day|doctor|door|\
    dress|engine|evening|farm|farmer|field|fire|friend|game|garden|girl|glass|hammer|hand|harbour|hill|horse|hour|house|island|key|kitchen|ladder|\
    lake|letter|map|market|meadow|morning|mountain|neighbour|night|office|orchard|page|path|pencil|person|picture|plate|pocket|queen|question|\
    river|road|room|sailor|school|sister|story|street|student|summer|table|teacher|ticket|town|train|valley|village|wall|week|window|winter|year";
const CONCRETE: &str = "anchor|bell|bench|blanket|bottle|brick|bucket|button|candle|carpet|chair|coin|cup|curtain|drum|feather|fence|flute|fork|gate|hat|\
    helmet|kettle|lamp|lantern|mirror|needle|nail|oven|pebble|piano|pillow|rope|sail|saw|shovel|spoon|stone|tent|wagon|wheel|whistle";
const COUNTABLE: &str = "apple|bag|ball|bike|bowl|card|car|cat|chapter|cloud|desk|dog|egg|flower|folder|guest|idea|island|joke|kite|leaf|lesson|month|note|\
    parcel|pen|phone|plan|room|seat|shoe|song|star|step|tool|tree|trip|weekend|window|word";
const UNCOUNTABLE: &str = "advice|air|bread|butter|cheese|clothing|coffee|dust|electricity|equipment|flour|fog|furniture|gravel|hay|homework|honey|\
    information|jam|knowledge|luggage|milk|money|music|news|oil|paper|pepper|progress|rain|rice|salt|sand|smoke|snow|sugar|tea|traffic|water|weather|wool";
const DETERMINER: &str =
    "a|an|the|this|that|these|those|my|your|our|their|each|every|some|any|no|another|its|her|his";

const DEGREE: &str = "almost|barely|completely|deeply|enough|entirely|extremely|fairly|fully|greatly|hardly|highly|hugely|nearly|quite|rather|really|scarcely|somewhat|too|utterly|very";
const OFTEN: &str = "annually|daily|hourly|monthly|nightly|quarterly|weekly|yearly|once|twice|every day|every hour|every week|every month";
const SELDOM: &str = "always|constantly|frequently|generally|hardly ever|infrequently|never|normally|occasionally|often|rarely|regularly|seldom|sometimes|usually";
const MANNER: &str = "badly|boldly|bravely|brightly|calmly|carefully|cheerfully|clumsily|eagerly|easily|fast|fiercely|gently|gladly|gracefully|happily|\
    hard|honestly|kindly|lazily|loudly|neatly|patiently|politely|quickly|quietly|sadly|sleepily|slowly|softly|steadily|swiftly|warmly|well|wisely";
const PLACE: &str = "above|abroad|ahead|anywhere|around|away|back|below|downstairs|east|everywhere|far|here|home|indoors|inside|nearby|north|nowhere|out|outside|south|there|upstairs|west";
const AT: &str =
    "now|then|today|tomorrow|tonight|yesterday|this morning|last night|next week|at noon";
const SOME_TIME: &str = "already|before|early|earlier|eventually|finally|formerly|just|lately|later|next|previously|recently|since|soon|still|yet";

const SIMPLE_PREPOSITION: &str = "about|above|across|after|along|among|around|at|before|behind|below|beside|between|by|down|for|from|in|into|near|of|off|on|over|past|through|to|under|until|up|with|without";
const DOUBLE_PREPOSITION: &str = "across from|ahead of|apart from|away from|because of|close to|due to|far from|inside of|instead of|next to|out of|outside of|prior to|up to";
const COMPOUND_PREPOSITION: &str = "according to|along with|as for|aside from|by means of|in addition to|in case of|in front of|in place of|in spite of|on account of|on behalf of|on top of|with regard to";

const CASUAL: &str = "accordingly|as a result|because|consequently|for this reason|hence|otherwise|since|so|so that|then|therefore|thus";
const COMPARING: &str = "although|but|by contrast|equally|however|in contrast|in the same way|instead|likewise|nevertheless|similarly|still|whereas|yet";
const COMPLAINING: &str = "anyhow|at least|besides|even so|in any case|in fact|nonetheless|of course|on the contrary|unless|though";
const EXAMPLES: &str = "for example|for instance|in particular|namely|such as|that is|to illustrate|specifically|above all";
const LISTING: &str = "firstly|secondly|thirdly|first of all|to begin with|next|for another|in addition|furthermore|moreover|lastly|finally";
const IN_TIME: &str = "after a while|afterwards|as soon as|at first|at last|before that|by then|during|in the end|meanwhile|once|since then|until then|when|while";

const PERSONAL: &str = "I|you|he|she|it|we|they";
const OBJECTS: &str = "me|you|him|her|it|us|them";
const OWNERS: &str = "mine|yours|his|hers|its|ours|theirs";
const REFLECTIVE: &str = "myself|yourself|himself|herself|itself|ourselves|yourselves|themselves";
const ASKING: &str = "who|whom|whose|what|which|whoever|whatever|whichever";
const RELATIVE: &str = "that|which|who|whom|whose|where|when|as";
const ANYONE: &str = "all|another|anybody|anyone|anything|both|each|either|everybody|everyone|everything|few|many|neither|nobody|none|nothing|one|several|some|somebody|someone|something";
const POINTING: &str = "this|that|these|those|such";
const INTERJECTION: &str = "ah|aha|alas|bravo|cheers|eek|goodness|gosh|hello|hey|hooray|hurrah|hush|my|oh|oops|ouch|phew|psst|ugh|well|whoa|wow|yes|yikes|yippee|yum";
const PHRASE: &str = "a close call|all in all|as you wish|at the end of the day|better late than never|by the way|come what may|easy does it|fair enough|\
    first things first|for what it is worth|good to know|here we go|in good time|it depends|just in case|let us see|long time no see|many thanks|more or less|\
    never mind|no hard feelings|no problem at all|not at all|once in a while|safe travels|see you soon|sooner or later|step by step|take care|time will tell|\
    to be honest|well done|what a day|you are welcome";

const LATIN: &str = "a|ab|ac|accumsan|ad|aliqua|aliquam|amet|ante|arcu|at|auctor|bibendum|blandit|commodo|condimentum|congue|consectetur|consequat|convallis|\
    cras|cursus|dapibus|diam|dictum|dignissim|dolor|dolore|donec|dui|duis|egestas|eget|eius|elementum|elit|enim|erat|eros|est|et|etiam|eu|euismod|facilisis|\
    fames|faucibus|felis|fermentum|feugiat|fringilla|fusce|gravida|habitant|hendrerit|iaculis|id|imperdiet|in|integer|interdum|ipsum|justo|labore|lacinia|\
    lacus|laoreet|lectus|leo|libero|ligula|lorem|luctus|maecenas|magna|malesuada|massa|mattis|mauris|metus|mi|mollis|morbi|nam|nec|neque|nibh|nisi|nisl|non|\
    nulla|nunc|odio|orci|ornare|pellentesque|pharetra|placerat|porta|praesent|pretium|proin|pulvinar|purus|quam|quis|rhoncus|risus|rutrum|sagittis|sapien|\
    sed|sem|semper|sit|sodales|suscipit|tellus|tempor|tempus|tincidunt|tortor|turpis|ullamcorper|ultrices|urna|ut|varius|vel|velit|venenatis|vestibulum|\
    vitae|vivamus|viverra|volutpat|vulputate";
const HIP: &str = "aeropress|analogue|artisan|banjo|beard|bespoke|bicycle|braid|brunch|cactus|cardigan|cassette|chai|cold brew|corduroy|cortado|\
    craft beer|denim|dreamcatcher|espresso|fair trade|farmers market|film camera|fixed gear|flannel|flat white|foraged|gluten-free|handmade|heirloom|\
    homegrown|kale|kimchi|kombucha|lo-fi|local|loft|macrame|matcha|mixtape|moustache|nomad|oat milk|organic|pickled|pop-up|pour-over|quinoa|record player|\
    rooftop|roasted|salvaged|screen print|single-origin|small batch|sourdough|street art|succulent|suspenders|swap meet|tattoo|terrarium|thrift|tofu|\
    tote bag|turmeric|typewriter|ukulele|unplugged|upcycled|vegan|vinyl|vintage|waxed canvas|workshop|yoga|zine";
const ACRONYM: &str = "AES|API|ARP|CLI|CPU|CSS|DNS|FTP|GPU|HTML|HTTP|IP|JSON|LAN|NAT|PCI|RAM|RPC|SAN|SMTP|SQL|SSD|SSH|SSL|TCP|TLS|UDP|URL|USB|VM|VPN|XML|YAML";
const TECH_ADJECTIVE: &str = "asynchronous|back-end|binary|cached|digital|distributed|embedded|encrypted|front-end|haptic|immutable|mobile|multi-core|neural|\
    offline|open-source|optical|parallel|portable|primary|recursive|redundant|remote|serverless|solid state|stateless|virtual|volatile|wireless";
const TECH_NOUN: &str = "array|backup|bandwidth|bus|cache|capacitor|certificate|circuit|cluster|compiler|container|database|disk|driver|feed|firewall|gateway|\
    hash|interface|kernel|matrix|microchip|monitor|packet|panel|pipeline|pixel|port|program|protocol|queue|router|sensor|server|socket|stack|thread|token|transmitter";
const TECH_VERB: &str = "back up|bypass|calculate|compile|compress|connect|copy|debug|decode|decrypt|deploy|encrypt|generate|hash|index|input|load|map|mirror|\
    override|parse|patch|probe|program|quantify|reboot|render|route|scan|sync|synthesize|trace|transmit|transpile|verify";
const TECH_ING: &str = "backing up|bypassing|calculating|compiling|compressing|connecting|copying|debugging|decoding|decrypting|deploying|encrypting|generating|\
    hashing|indexing|loading|mapping|mirroring|overriding|parsing|patching|probing|programming|quantifying|rebooting|rendering|routing|scanning|syncing|\
    tracing|transmitting|transpiling|verifying";

/// Of words of any sort.
const SORTS: &[&str] = &[
    COMMON,
    COMMON,
    CONCRETE,
    COUNTABLE,
    ABSTRACT,
    ACTION,
    TRANSITIVE,
    INTRANSITIVE,
    DESCRIPTIVE,
    DESCRIPTIVE,
    MANNER,
    SIMPLE_PREPOSITION,
    PERSONAL,
    OWNERS,
    QUANTITATIVE,
    SOME_TIME,
];
const NOUNS: &[&str] = &[COMMON, CONCRETE, COUNTABLE, ABSTRACT, UNCOUNTABLE];
const VERBS: &[&str] = &[ACTION, TRANSITIVE, INTRANSITIVE];
const ADVERBS: &[&str] = &[DEGREE, OFTEN, SELDOM, MANNER, PLACE, AT, SOME_TIME];
const ADJECTIVES: &[&str] = &[DESCRIPTIVE, DESCRIPTIVE, DESCRIPTIVE, QUANTITATIVE, PROPER];
const PRONOUNS: &[&str] =
    &[PERSONAL, OBJECTS, OWNERS, REFLECTIVE, ASKING, RELATIVE, ANYONE, POINTING];
const PREPOSITIONS: &[&str] = &[SIMPLE_PREPOSITION, DOUBLE_PREPOSITION, COMPOUND_PREPOSITION];
const CONNECTIVES: &[&str] = &[CASUAL, COMPARING, COMPLAINING, EXAMPLES, LISTING, IN_TIME];

/// One word of one of these lists.
fn any(rng: &mut Rng, lists: &[&'static str]) -> &'static str {
    let index = rng.usize(..lists.len());
    pick(rng, lists.get(index).copied().unwrap_or_default())
}

pub(super) fn word(rng: &mut Rng) -> &'static str {
    any(rng, SORTS)
}

pub(super) fn adjective(rng: &mut Rng) -> &'static str {
    pick(rng, DESCRIPTIVE)
}

pub(super) fn noun(rng: &mut Rng) -> &'static str {
    pick(rng, COMMON)
}

fn noun_phrase(rng: &mut Rng) -> String {
    let (adjective, noun) = (adjective(rng), noun(rng));
    let article = match pick(rng, "a|the") {
        "a" if adjective.starts_with(['a', 'e', 'i', 'o', 'u']) => "an",
        article => article,
    };
    format!("{article} {adjective} {noun}")
}

fn verb_phrase(rng: &mut Rng) -> String {
    let (manner, verb) = (pick(rng, MANNER), pick(rng, TRANSITIVE));
    format!("{manner} {verb} {}", noun_phrase(rng))
}

fn adverb_phrase(rng: &mut Rng) -> String {
    format!("{} {}", pick(rng, DEGREE), pick(rng, MANNER))
}

fn preposition_phrase(rng: &mut Rng) -> String {
    format!("{} {}", pick(rng, SIMPLE_PREPOSITION), noun_phrase(rng))
}

fn simple_sentence(rng: &mut Rng) -> String {
    let (subject, verb) = (capital(&noun_phrase(rng)), pick(rng, HELPING_PLAIN));
    format!("{subject} {verb} {} {}.", verb_phrase(rng), preposition_phrase(rng))
}

/// Those that any subject may have before a verb.
const HELPING_PLAIN: &str = "can|could|may|might|must|should|will|would";

/// Where the words of a text come from.
type Source = fn(&mut Rng) -> &'static str;

fn joined(rng: &mut Rng, source: Source, words: usize) -> String {
    let mut text = String::new();
    for index in 0..words {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(source(rng));
    }
    capital(&text)
}

pub(super) fn sentence(rng: &mut Rng, source: Source, words: usize) -> String {
    let mut text = joined(rng, source, words);
    if !text.is_empty() {
        text.push('.');
    }
    text
}

fn asked_sentence(asked: &mut Asked<'_>, source: Source) -> Result<Out, String> {
    let words = asked.given.count(0, "wordcount")?;
    Ok(sentence(asked.rng, source, words).into())
}

fn asked_paragraphs(asked: &mut Asked<'_>, source: Source) -> Result<Out, String> {
    let paragraphs = asked.given.count(0, "paragraphcount")?;
    let sentences = asked.given.count(1, "sentencecount")?;
    let words = asked.given.count(2, "wordcount")?;
    let separator = asked.given.text(3);
    let size = (sentences.max(1) as f64) * (words.max(1) as f64) + separator.len() as f64;
    if paragraphs as f64 * size > MOST {
        return Err(format!("more than {MOST} words were asked for"));
    }
    let made: Vec<_> = (0..paragraphs)
        .map(|_| {
            let all: Vec<_> = (0..sentences).map(|_| sentence(asked.rng, source, words)).collect();
            all.join(" ")
        })
        .collect();
    Ok(made.join(separator).into())
}

fn latin(rng: &mut Rng) -> &'static str {
    pick(rng, LATIN)
}

fn hip(rng: &mut Rng) -> &'static str {
    pick(rng, HIP)
}

fn comment(rng: &mut Rng) -> String {
    let ending = pick(rng, "!|.|...");
    match rng.u8(..3) {
        0 => format!("{}{ending}", capital(pick(rng, INTERJECTION))),
        1 => format!("{}, {}{ending}", pick(rng, INTERJECTION), pick(rng, PHRASE)),
        _ => format!("{}{ending}", capital(pick(rng, PHRASE))),
    }
}

fn hacker_phrase(rng: &mut Rng) -> String {
    let (verb, acronym, noun) = (pick(rng, TECH_VERB), pick(rng, ACRONYM), pick(rng, TECH_NOUN));
    let (adjective, other, doing) =
        (pick(rng, TECH_ADJECTIVE), pick(rng, TECH_NOUN), pick(rng, TECH_ING));
    match rng.u8(..3) {
        0 => format!("Let us {verb} the {acronym} {noun} before the {adjective} {other} does!"),
        1 => format!(
            "Without {doing} the {noun}, nobody can {verb} the {adjective} {acronym} {other}."
        ),
        _ => format!("{} the {adjective} {noun} and the {acronym} {other} follows.", capital(verb)),
    }
}

const SENTENCE: &[Argument] = &[argument("wordcount", Kind::Number(5.0))];
const PARAGRAPH: &[Argument] = &[
    argument("paragraphcount", Kind::Number(2.0)),
    argument("sentencecount", Kind::Number(2.0)),
    argument("wordcount", Kind::Number(5.0)),
    argument("paragraphseparator", Kind::Text(Some("<br />"))),
];

pub(super) const HIPSTER: &[Row] = &[
    with("hipsterParagraph", PARAGRAPH, |asked| asked_paragraphs(asked, hip)),
    with("hipsterSentence", SENTENCE, |asked| asked_sentence(asked, hip)),
    list("hipsterWord", HIP),
];

pub(super) const HACKER: &[Row] = &[
    list("hackerAbbreviation", ACRONYM),
    list("hackerAdjective", TECH_ADJECTIVE),
    list("hackerNoun", TECH_NOUN),
    text("hackerPhrase", hacker_phrase),
    list("hackerVerb", TECH_VERB),
    list("hackeringVerb", TECH_ING),
];

pub(super) const WORD: &[Row] = &[
    list("actionVerb", ACTION),
    text("adjective", |rng| any(rng, ADJECTIVES).to_owned()),
    text("adverb", |rng| any(rng, ADVERBS).to_owned()),
    list("adverbDegree", DEGREE),
    list("adverbFrequencyDefinite", OFTEN),
    list("adverbFrequencyIndefinite", SELDOM),
    list("adverbManner", MANNER),
    text("adverbPhrase", adverb_phrase),
    list("adverbPlace", PLACE),
    list("adverbTimeDefinite", AT),
    list("adverbTimeIndefinite", SOME_TIME),
    text("comment", comment),
    text("connective", |rng| any(rng, CONNECTIVES).to_owned()),
    list("connectiveCasual", CASUAL),
    list("connectiveComparitive", COMPARING),
    list("connectiveComplaint", COMPLAINING),
    list("connectiveExamplify", EXAMPLES),
    list("connectiveListing", LISTING),
    list("connectiveTime", IN_TIME),
    list("demonstrativeAdjective", DEMONSTRATIVE),
    list("descriptiveAdjective", DESCRIPTIVE),
    list("helpingVerb", HELPING),
    list("indefiniteAdjective", INDEFINITE),
    list("interjection", INTERJECTION),
    list("interrogativeAdjective", INTERROGATIVE),
    list("intransitiveVerb", INTRANSITIVE),
    list("linkingVerb", LINKING),
    with("loremIpsumParagraph", PARAGRAPH, |asked| asked_paragraphs(asked, latin)),
    with("loremIpsumSentence", SENTENCE, |asked| asked_sentence(asked, latin)),
    list("loremIpsumWord", LATIN),
    text("noun", |rng| any(rng, NOUNS).to_owned()),
    list("nounAbstract", ABSTRACT),
    list("nounCollectiveAnimal", ANIMALS_OF),
    list("nounCollectivePeople", PEOPLE_OF),
    list("nounCollectiveThing", THINGS_OF),
    list("nounCommon", COMMON),
    list("nounConcrete", CONCRETE),
    list("nounCountable", COUNTABLE),
    list("nounDeterminer", DETERMINER),
    text("nounPhrase", noun_phrase),
    text("nounProper", people::name),
    list("nounUncountable", UNCOUNTABLE),
    with("paragraph", PARAGRAPH, |asked| asked_paragraphs(asked, word)),
    list("phrase", PHRASE),
    list("possessiveAdjective", POSSESSIVE),
    text("preposition", |rng| any(rng, PREPOSITIONS).to_owned()),
    list("prepositionCompound", COMPOUND_PREPOSITION),
    list("prepositionDouble", DOUBLE_PREPOSITION),
    text("prepositionPhrase", preposition_phrase),
    list("prepositionSimple", SIMPLE_PREPOSITION),
    text("pronoun", |rng| any(rng, PRONOUNS).to_owned()),
    list("pronounDemonstrative", POINTING),
    list("pronounIndefinite", ANYONE),
    list("pronounInterrogative", ASKING),
    list("pronounObject", OBJECTS),
    list("pronounPersonal", PERSONAL),
    list("pronounPossessive", OWNERS),
    list("pronounReflective", REFLECTIVE),
    list("pronounRelative", RELATIVE),
    list("properAdjective", PROPER),
    list("quantitativeAdjective", QUANTITATIVE),
    text("question", |rng| {
        let words = rng.usize(4..11);
        format!("{}?", joined(rng, word, words))
    }),
    text("quote", |rng| {
        let words = rng.usize(4..11);
        format!("\"{}\" - {}", sentence(rng, word, words), people::name(rng))
    }),
    with("sentence", SENTENCE, |asked| asked_sentence(asked, word)),
    text("simpleSentence", simple_sentence),
    list("transitiveVerb", TRANSITIVE),
    text("verb", |rng| any(rng, VERBS).to_owned()),
    text("verbPhrase", verb_phrase),
    text("word", |rng| word(rng).to_owned()),
];
