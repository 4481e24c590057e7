//! People, their work and what they make.

use super::row::{
    Argument, Kind, Out, Rng, Row, argument, capital, list, pattern, pick, plain, text, with,
};
use super::values::number_like;
use super::{money, places, words};

const FIRST: &str = "Ada|Adrian|Agnes|Aisha|Albert|Alma|Amir|Anders|Anita|Anton|Astrid|Beatrice|Benno|Bianca|Boris|Bruno|Camille|Carlos|Cecilia|Chiara|\
    Clara|Conrad|Dalia|Daniel|Daria|David|Diego|Edith|Elena|Elias|Emil|Emma|Erik|Esther|Eva|Fabian|Farid|Fatima|Felix|Fiona|Frida|Gabriel|Georg|Grace|\
    Hana|Harald|Hassan|Helen|Henry|Hugo|Ida|Ines|Ingrid|Irene|Isaac|Ivan|Jakob|Jana|Jasper|Joan|Jonas|Julia|Karim|Karin|Kenji|Kofi|Lara|Lars|Laura|Leila|\
    Leon|Lina|Louis|Lucia|Magnus|Marco|Maria|Marta|Matteo|Maya|Mei|Mila|Miriam|Nadia|Naomi|Nina|Nora|Olga|Oscar|Pablo|Paula|Pedro|Petra|Priya|Rafael|\
    Ravi|Rosa|Ruth|Samir|Samuel|Sara|Sofia|Stefan|Stella|Tara|Theo|Thomas|Ulla|Vera|Viktor|Walter|Yara|Yuki|Zoe";
const LAST: &str = "Abel|Adler|Ahmed|Almeida|Andersen|Bauer|Becker|Bennett|Berg|Bianchi|Blake|Brandt|Carter|Castro|Chen|Cohen|Conti|Costa|Dahl|Delgado|\
    Diaz|Dubois|Ekberg|Farkas|Fischer|Fontaine|Foster|Fox|Garcia|Gold|Grant|Gruber|Haas|Hansen|Hart|Hayes|Hoffmann|Holm|Horvat|Huber|Ito|Ivanov|Jansen|\
    Johansson|Kaya|Keller|Khan|Kim|Klein|Koch|Kovacs|Krause|Kumar|Lang|Laurent|Lind|Lopez|Lund|Marin|Martin|Mendes|Meyer|Moreau|Moretti|Mueller|Nagy|\
    Nakamura|Nilsen|Novak|Okafor|Olsen|Ortega|Park|Patel|Peters|Petrov|Popov|Ramos|Reyes|Richter|Rivera|Romano|Rossi|Roy|Sato|Schmidt|Schneider|Silva|\
    Simon|Singh|Sorensen|Stein|Suzuki|Tanaka|Thorne|Torres|Tran|Vargas|Virtanen|Vogel|Wagner|Walsh|Weber|Winter|Wolf|Wong|Yilmaz|Young|Zhang|Ziegler";
const HOBBY: &str = "Astronomy|Baking|Beekeeping|Birdwatching|Board games|Bookbinding|Calligraphy|Camping|Canoeing|Ceramics|Chess|Climbing|Cooking|Crossword puzzles|\
    Cycling|Dancing|Drawing|Fencing|Fishing|Gardening|Geocaching|Hiking|Juggling|Kite flying|Knitting|Magic tricks|Model building|Origami|Painting|Photography|\
    Playing the piano|Pottery|Reading|Rowing|Running|Sailing|Sewing|Singing|Skating|Skiing|Stamp collecting|Surfing|Swimming|Table tennis|Theatre|Woodworking|Yoga";

const COMPANIES: &str = "Alderbrook|Amberline|Argent Peak|Aspenware|Bluefen|Boldwater|Bramble & Co|Brightloom|Cedar Quay|Clearhaven|Cobaltry|Copperfield Works|\
    Corvane|Deltaform|Driftwood Labs|Eastmere|Elmgate|Emberly|Everstead|Fernworks|Fieldnote|Fjordtech|Foxglove Media|Glasshouse Data|Granite Row|Greyhull|\
    Halcyon Freight|Harborlight|Hazelworks|Heronsoft|Highmoor|Inkwell Systems|Ironvale|Ivyline|Juniper Gate|Kestrel Logistics|Kilnhouse|Lakemont|Lanternly|\
    Larkspur|Lumenbay|Maplegrid|Marlowe Foods|Meadowlark|Millrace|Mistral Energy|Moonquarry|Northwharf|Oakline|Oldfield Tools|Orchardly|Pebbletech|Pinecrest|\
    Plumcraft|Quarrystone|Quillon|Redthorn|Riverstead|Rowanfield|Saltmarsh|Seabright|Silverbirch|Skylark Air|Slatework|Southpier|Stillwater|Stonebridge|\
    Summerhall|Sundial|Tallgrass|Thistledown|Tidewater|Timberlane|Umberfield|Valewood|Vantry|Waterwheel|Westerly|Willowbank|Windrose|Wrenfield|Yarrow|Zephyrine";
const SUFFIX: &str = "Inc|LLC|Ltd|Group|and Sons|Corp|Co|GmbH|AG|Partners";
const TITLES: &str = "Accountant|Administrator|Advisor|Analyst|Architect|Assistant|Associate|Auditor|Buyer|Clerk|Consultant|Coordinator|Designer|Developer|Director|\
    Editor|Engineer|Inspector|Librarian|Manager|Officer|Operator|Planner|Producer|Recruiter|Representative|Researcher|Scientist|Specialist|Strategist|Supervisor|Surveyor|Technician|Translator";
const DESCRIPTORS: &str = "Central|Chief|Corporate|Customer|Deputy|District|Domestic|Executive|External|Field|First|General|Global|Head|Internal|International|Junior|Lead|National|Principal|Product|Regional|Senior|Staff";
const LEVELS: &str = "Accounts|Assurance|Brand|Communications|Compliance|Data|Design|Finance|Infrastructure|Integration|Legal|Logistics|Marketing|Mobility|Operations|\
    Optimization|Planning|Procurement|Quality|Research|Response|Sales|Security|Solutions|Support|Training|Usability";
const BUZZ: &str = "Adaptive|Agile|Automated|Balanced|Collaborative|Configurable|Connected|Customer-focused|Data-driven|Decentralized|Digital|Elastic|Ergonomic|Flexible|\
    Future-proof|Hands-on|Holistic|Inclusive|Integrated|Intuitive|Lean|Modular|Networked|Open|Optimized|Proactive|Resilient|Right-sized|Robust|Scalable|Seamless|Secure|Streamlined|Sustainable|Transparent|Universal";
const BUSINESS: &str = "24-hour|bleeding-edge|bottom-line|channels|content|convergence|cross-platform|cutting-edge|deliverables|empower|enable|end-to-end|engage|ecosystems|\
    frictionless|grow|harness|impactful|incubate|innovative|interfaces|leverage|markets|metrics|mission-critical|monetize|niches|orchestrate|paradigms|partnerships|\
    platforms|real-time|reinvent|reshape|scale|solutions|strategic|streamline|supply-chains|synergies|transform|turn-key|unleash|users|value-added|visionary|world-class";
const BLURB: &str = "Ambition|Balance|Care|Clarity|Comfort|Confidence|Courage|Craft|Curiosity|Delight|Drive|Fairness|Focus|Freedom|Growth|Harmony|Heritage|Honesty|Hope|\
    Imagination|Insight|Integrity|Joy|Momentum|Passion|Patience|Precision|Progress|Promise|Quality|Reliability|Respect|Simplicity|Spirit|Strength|Trust|Vision|Wonder";

const ACTORS: &str = "Audrey Hepburn|Cary Grant|Cate Blanchett|Charlie Chaplin|Denzel Washington|Emma Thompson|Frances McDormand|Humphrey Bogart|Ian McKellen|\
    Ingrid Bergman|Isabelle Huppert|Judi Dench|Katharine Hepburn|Mads Mikkelsen|Marcello Mastroianni|Meryl Streep|Michelle Yeoh|Olivia Colman|Penelope Cruz|\
    Sidney Poitier|Sophia Loren|Tilda Swinton|Tom Hanks|Toshiro Mifune|Viola Davis";
const FOUNDERS: &str = "Akio Morita|Anita Roddick|Bill Gates|Coco Chanel|Estee Lauder|Ferdinand Porsche|Henry Ford|Ingvar Kamprad|Jack Ma|James Dyson|Levi Strauss|\
    Madam C. J. Walker|Masayoshi Son|Michael Dell|Oprah Winfrey|Richard Branson|Soichiro Honda|Steve Jobs|Walt Disney|Warren Buffett";
const ATHLETES: &str = "Abebe Bikila|Allyson Felix|Cathy Freeman|Diego Maradona|Eddy Merckx|Emil Zatopek|Jesse Owens|Johan Cruyff|Kipchoge Keino|Lionel Messi|Marta|\
    Martina Navratilova|Michael Jordan|Muhammad Ali|Nadia Comaneci|Novak Djokovic|Paavo Nurmi|Pele|Rafael Nadal|Serena Williams|Simone Biles|Steffi Graf|Usain Bolt|Wayne Gretzky";
const SCHOOL_NAMES: &str = "Ashgrove|Bayview|Birchwood|Bridgewater|Brookside|Cedar Hill|Clifton|Eastfield|Elm Park|Fairview|Glenwood|Greenway|Hillcrest|Kingsmead|\
    Lakeside|Maple Lane|Meadowbank|Millbrook|Northgate|Oak Ridge|Parkside|Riverdale|Rosemount|Southfield|St. Clare|Stonefield|Sunnyside|Westbrook|Woodlands";

const PEOPLE: &[Argument] =
    &[argument("people", Kind::Texts(None)), argument("teams", Kind::Texts(None))];

pub(super) fn first(rng: &mut Rng) -> &'static str {
    pick(rng, FIRST)
}

pub(super) fn last(rng: &mut Rng) -> &'static str {
    pick(rng, LAST)
}

pub(super) fn name(rng: &mut Rng) -> String {
    format!("{} {}", first(rng), last(rng))
}

/// A name of reserved domains would be safer, but tests want many; none of these need exist.
pub(super) fn domain(rng: &mut Rng) -> String {
    let (adjective, noun) = (words::adjective(rng), words::noun(rng));
    format!("{adjective}{noun}.{}", pick(rng, super::web::SUFFIXES))
}

pub(super) fn email(rng: &mut Rng) -> String {
    let (first, last) = (first(rng).to_lowercase(), last(rng).to_lowercase());
    format!("{first}{last}@{}", domain(rng))
}

fn ssn(rng: &mut Rng) -> String {
    format!("{}{:02}{:04}", rng.u16(100..666), rng.u8(1..100), rng.u16(1..10_000))
}

fn job(rng: &mut Rng) -> Out {
    Out::record([
        ("Company", pick(rng, COMPANIES).into()),
        ("Title", pick(rng, TITLES).into()),
        ("Descriptor", pick(rng, DESCRIPTORS).into()),
        ("Level", pick(rng, LEVELS).into()),
    ])
}

fn person(rng: &mut Rng) -> Out {
    let contact = [("Phone", number_like(rng, "#########").into()), ("Email", email(rng).into())];
    Out::record([
        ("FirstName", first(rng).into()),
        ("LastName", last(rng).into()),
        ("Gender", pick(rng, "female|male").into()),
        ("SSN", ssn(rng).into()),
        ("Image", super::web::image(rng.u16(100..500), rng.u16(100..500)).into()),
        ("Hobby", pick(rng, HOBBY).into()),
        ("Job", job(rng)),
        ("Address", places::address(rng)),
        ("Contact", Out::record(contact)),
        ("CreditCard", money::credit_card(rng)),
    ])
}

/// The people in a random order, dealt to the teams one by one.
fn teams(rng: &mut Rng, people: &[String], teams: &[String]) -> Result<Out, String> {
    let mut names: Vec<&String> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    names.extend(teams.iter().filter(|name| seen.insert(name.as_str())));
    if names.is_empty() {
        return Err("teams is empty".to_owned());
    }
    let mut people = people.to_vec();
    rng.shuffle(&mut people);
    let mut dealt: Vec<Vec<String>> = names.iter().map(|_| Vec::new()).collect();
    for (index, person) in people.into_iter().enumerate() {
        let team = index % names.len();
        if let Some(members) = dealt.get_mut(team) {
            members.push(person);
        }
    }
    let record = names.into_iter().cloned().zip(dealt.into_iter().map(Out::from));
    Ok(Out::Record(record.collect()))
}

pub(super) const PERSON: &[Row] = &[
    text("email", email),
    list("firstName", FIRST),
    list("gender", "female|male"),
    list("hobby", HOBBY),
    list("lastName", LAST),
    list("middleName", FIRST),
    text("name", name),
    list("namePrefix", "Mr.|Mrs.|Ms.|Miss|Dr.|Prof."),
    list("nameSuffix", "Jr.|Sr.|II|III|IV|PhD|MD|DDS"),
    plain("person", person),
    text("phone", |rng| number_like(rng, "#########")),
    text("phoneFormatted", |rng| {
        let form =
            pick(rng, "(2##) 5##-####|3##-6##-####|1-4##-7##-####|+1 5## 8## ####|6##.9##.####");
        pattern(rng, form)
    }),
    text("school", |rng| {
        let (place, kind) = (pick(rng, SCHOOL_NAMES), pick(rng, "Public|Private|State"));
        format!(
            "{place} {kind} {}",
            pick(rng, "Elementary School|Middle School|High School|College")
        )
    }),
    text("ssn", ssn),
    with("teams", PEOPLE, |asked| teams(asked.rng, asked.given.texts(0), asked.given.texts(1))),
];

pub(super) const APP: &[Row] = &[
    text("appAuthor", |rng| if rng.bool() { name(rng) } else { pick(rng, COMPANIES).to_owned() }),
    text("appName", |rng| {
        let (adjective, noun) = (words::adjective(rng), words::noun(rng));
        format!("{}{}", capital(adjective), capital(noun))
    }),
    text("appVersion", |rng| format!("{}.{}.{}", rng.u8(1..6), rng.u8(..21), rng.u8(..21))),
];

pub(super) const CELEBRITY: &[Row] = &[
    list("celebrityActor", ACTORS),
    list("celebrityBusiness", FOUNDERS),
    list("celebritySport", ATHLETES),
];

pub(super) const COMPANY: &[Row] = &[
    list("blurb", BLURB),
    list("bs", BUSINESS),
    list("buzzword", BUZZ),
    list("company", COMPANIES),
    list("companySuffix", SUFFIX),
    plain("job", job),
    list("jobDescriptor", DESCRIPTORS),
    list("jobLevel", LEVELS),
    list("jobTitle", TITLES),
    text("slogan", |rng| {
        let (blurb, buzz, end) = (pick(rng, BLURB), pick(rng, BUZZ), pick(rng, ".|!"));
        format!("{blurb}. {buzz}{end}")
    }),
];
