//! Animals, drinks, books, cars, colours, emojis, food, games, languages, films and products.

use super::row::{
    Argument, Asked, Kind, Out, Rng, Row, argument, between, capital, list, number_text, pick,
    pick_pair, plain, rounded, text, with,
};
use super::{people, words};

const ANIMALS: &str = "alpaca|ant|antelope|badger|bat|bear|beaver|bee|bison|camel|cheetah|cobra|crab|crow|deer|dolphin|donkey|dragonfly|duck|eagle|elephant|elk|falcon|ferret|\
    fox|frog|gazelle|giraffe|goose|gorilla|hare|hedgehog|heron|hippopotamus|horse|hyena|jaguar|kangaroo|koala|lemur|leopard|lion|llama|lobster|lynx|mole|monkey|\
    moose|mouse|octopus|ostrich|otter|owl|panda|panther|penguin|porcupine|rabbit|raccoon|raven|rhinoceros|salmon|seal|shark|sheep|sloth|snail|spider|squirrel|\
    stork|swan|tiger|toad|turtle|walrus|weasel|whale|wolf|wombat|yak|zebra";
const BIRDS: &str = "albatross|avocet|blackbird|bluejay|bullfinch|canary|cormorant|crane|cuckoo|curlew|dove|finch|flamingo|goldfinch|grebe|gull|hawk|hummingbird|ibis|\
    jackdaw|kestrel|kingfisher|lapwing|magpie|nightingale|nuthatch|oriole|osprey|parrot|pelican|pigeon|plover|puffin|quail|robin|rook|sandpiper|skylark|sparrow|\
    starling|swallow|swift|tern|thrush|toucan|vulture|warbler|woodpecker|wren";
const CATS: &str = "Abyssinian|American Shorthair|Balinese|Bengal|Birman|Bombay|British Shorthair|Burmese|Chartreux|Cornish Rex|Devon Rex|Egyptian Mau|Himalayan|Korat|\
    Maine Coon|Manx|Norwegian Forest Cat|Ocicat|Persian|Ragdoll|Russian Blue|Scottish Fold|Siamese|Siberian|Sphynx|Turkish Angora|Turkish Van";
const DOGS: &str = "Airedale Terrier|Akita|Alaskan Malamute|Basset Hound|Beagle|Bernese Mountain Dog|Border Collie|Boxer|Bulldog|Chihuahua|Chow Chow|Cocker Spaniel|Corgi|\
    Dachshund|Dalmatian|Dobermann|German Shepherd|Golden Retriever|Great Dane|Greyhound|Irish Setter|Labrador Retriever|Maltese|Newfoundland|Papillon|Pointer|\
    Poodle|Pug|Rottweiler|Saint Bernard|Samoyed|Schnauzer|Shiba Inu|Siberian Husky|Vizsla|Weimaraner|Whippet";
const FARM: &str =
    "Cow|Sheep|Goat|Pig|Chicken|Duck|Goose|Turkey|Horse|Donkey|Rabbit|Llama|Alpaca|Ox|Bee";
const PETS: &str = "Apollo|Bandit|Basil|Bella|Biscuit|Boots|Bruno|Buttons|Caramel|Charlie|Cleo|Coco|Cookie|Daisy|Dexter|Domino|Felix|Fig|Ginger|Gizmo|Hazel|Honey|Jasper|Juno|\
    Kiwi|Leo|Lola|Lucky|Luna|Max|Milo|Mocha|Molly|Muffin|Nala|Noodle|Olive|Oreo|Oscar|Peanut|Pepper|Pickle|Pixel|Poppy|Rocky|Rusty|Simba|Smokey|Snowball|Socks|Sunny|Toby|Waffles|Willow|Ziggy";

pub(super) const ANIMAL: &[Row] = &[
    list("animal", ANIMALS),
    list("animalType", "amphibians|birds|fish|invertebrates|mammals|reptiles"),
    list("bird", BIRDS),
    list("cat", CATS),
    list("dog", DOGS),
    list("farmAnimal", FARM),
    list("petName", PETS),
];

pub(super) const BEER: &[Row] = &[
    text("beerAlcohol", |rng| format!("{:.1}%", between(rng, 2.0, 10.0))),
    text("beerBlg", |rng| format!("{:.1}°Blg", between(rng, 5.0, 20.0))),
    list(
        "beerHop",
        "Ahtanum|Amarillo|Brewer's Gold|Cascade|Centennial|Challenger|Chinook|Citra|Columbus|Crystal|East Kent Goldings|Fuggle|Galaxy|Galena|Hallertau|Liberty|\
        Magnum|Mosaic|Mount Hood|Nelson Sauvin|Northern Brewer|Nugget|Perle|Saaz|Simcoe|Sorachi Ace|Sterling|Tettnang|Willamette",
    ),
    text("beerIbu", |rng| format!("{} IBU", rng.u8(10..101))),
    list(
        "beerMalt",
        "Amber|Black malt|Brown malt|Caramel|Chocolate malt|Crystal malt|Maris Otter|Melanoidin|Munich|Oat malt|Pale ale malt|Pilsner|Roasted barley|Rye malt|Smoked malt|Vienna|Wheat malt",
    ),
    text("beerName", |rng| {
        let name = capital(words::adjective(rng));
        let second = capital(pick(rng, ANIMALS));
        format!(
            "{name} {second} {}",
            pick(rng, "Ale|Bock|IPA|Lager|Pale Ale|Pilsner|Porter|Saison|Stout|Weizen")
        )
    }),
    list(
        "beerStyle",
        "Amber Ale|American Pale Ale|Barley Wine|Belgian Dubbel|Belgian Tripel|Berliner Weisse|Bock|Bohemian Pilsner|Brown Ale|Cream Ale|Doppelbock|Dunkel|English Bitter|\
        Gose|Hefeweizen|Helles|Imperial Stout|India Pale Ale|Irish Red Ale|Kölsch|Lambic|Märzen|Oatmeal Stout|Porter|Rye Beer|Saison|Schwarzbier|Scottish Ale|Vienna Lager|Witbier",
    ),
    list(
        "beerYeast",
        "1007 - German Ale|1028 - London Ale|1056 - American Ale|1084 - Irish Ale|1214 - Belgian Abbey|1728 - Scottish Ale|2007 - Pilsen Lager|2035 - American Lager|\
        2112 - California Lager|2124 - Bohemian Lager|2308 - Munich Lager|3068 - Weihenstephan Weizen|3278 - Belgian Lambic|3724 - Belgian Saison|3944 - Belgian Witbier",
    ),
];

const AUTHORS: &str = "Agatha Christie|Albert Camus|Alexandre Dumas|Anton Chekhov|Charles Dickens|Charlotte Brontë|Chinua Achebe|Doris Lessing|Emily Dickinson|Franz Kafka|\
    Gabriel García Márquez|George Orwell|Goethe|Herman Melville|Homer|Jane Austen|Jules Verne|Leo Tolstoy|Lewis Carroll|Mark Twain|Mary Shelley|Miguel de Cervantes|\
    Oscar Wilde|Rabindranath Tagore|Selma Lagerlöf|Stefan Zweig|Toni Morrison|Victor Hugo|Virginia Woolf|William Shakespeare";
const BOOKS: &str = "A Tale of Two Cities|Alice in Wonderland|Anna Karenina|Around the World in Eighty Days|Bleak House|Don Quixote|Dracula|Emma|Faust|Frankenstein|Great Expectations|\
    Gulliver's Travels|Hamlet|Jane Eyre|King Lear|Les Misérables|Little Women|Macbeth|Madame Bovary|Middlemarch|Moby Dick|Nostromo|Oliver Twist|Orlando|Persuasion|\
    Pride and Prejudice|Robinson Crusoe|The Iliad|The Jungle Book|The Odyssey|The Time Machine|The Trial|Treasure Island|Ulysses|Vanity Fair|Walden|War and Peace|Wuthering Heights";
const BOOK_GENRES: &str = "Adventure|Biography|Children's|Classic|Comedy|Crime|Drama|Essay|Fairy tale|Fantasy|Historical|Horror|Memoir|Mystery|Mythology|Poetry|Romance|Satire|Science fiction|Thriller|Travel|Western";

pub(super) const BOOK: &[Row] = &[
    plain("book", |rng| {
        Out::record([
            ("Title", pick(rng, BOOKS).into()),
            ("Author", pick(rng, AUTHORS).into()),
            ("Genre", pick(rng, BOOK_GENRES).into()),
        ])
    }),
    list("bookAuthor", AUTHORS),
    list("bookGenre", BOOK_GENRES),
    list("bookTitle", BOOKS),
];

const CAR_TYPES: &str = "Convertible|Coupe|Hatchback|Limousine|Minivan|Pickup truck|Roadster|Sedan|Sport utility vehicle|Station wagon|Van";
const FUELS: &str = "Diesel|Electric|Ethanol|Gasoline|Hybrid|Hydrogen|LPG|Methane|Plug-in hybrid";
const GEARS: &str = "Automatic|Continuously variable|Dual clutch|Manual|Semi-automatic";
const MAKERS: &str = "Alfa Romeo|Audi|BMW|Cadillac|Chevrolet|Citroën|Dacia|Fiat|Ford|Honda|Hyundai|Jaguar|Jeep|Kia|Lancia|Land Rover|Lexus|Mazda|Mercedes-Benz|Mini|Mitsubishi|Nissan|\
    Opel|Peugeot|Porsche|Renault|Saab|Seat|Skoda|Subaru|Suzuki|Tesla|Toyota|Volkswagen|Volvo";
const MODELS: &str = "2CV|500|911|A4|Accord|Astra|C3|Camry|Civic|Clio|Corolla|Defender|Fabia|Fiesta|Focus|Forester|Giulia|Golf|i30|Ibiza|Impreza|Leaf|Megane|Model 3|Mustang|MX-5|Octavia|\
    Outback|Panda|Passat|Picanto|Polo|Prius|Sandero|Sportage|Swift|Tucson|V60|Wrangler|XC40|Yaris";

pub(super) const CAR: &[Row] = &[
    plain("car", |rng| {
        Out::record([
            ("Type", pick(rng, CAR_TYPES).into()),
            ("Fuel", pick(rng, FUELS).into()),
            ("Transmission", pick(rng, GEARS).into()),
            ("Brand", pick(rng, MAKERS).into()),
            ("Model", pick(rng, MODELS).into()),
            ("Year", f64::from(rng.u16(1950..2027)).into()),
        ])
    }),
    list("carFuelType", FUELS),
    list("carMaker", MAKERS),
    list("carModel", MODELS),
    list("carTransmissionType", GEARS),
    list("carType", CAR_TYPES),
];

const COLORS: &str = "AliceBlue|Aquamarine|Azure|Beige|Bisque|Black|Blue|BlueViolet|Brown|CadetBlue|Chartreuse|Chocolate|Coral|CornflowerBlue|Crimson|Cyan|DarkBlue|DarkGreen|DarkOrange|\
    DeepPink|DodgerBlue|FireBrick|ForestGreen|Fuchsia|Gold|Gray|Green|HotPink|Indigo|Ivory|Khaki|Lavender|Lime|Magenta|Maroon|MidnightBlue|MintCream|Navy|Olive|Orange|\
    Orchid|Peru|Pink|Plum|Purple|Red|RoyalBlue|Salmon|SeaGreen|Sienna|Silver|SkyBlue|SlateGray|SteelBlue|Tan|Teal|Thistle|Tomato|Turquoise|Violet|Wheat|White|Yellow";
const SAFE_COLORS: &str =
    "aqua|black|blue|fuchsia|gray|green|lime|maroon|navy|olive|purple|red|silver|teal|white|yellow";

fn hex_color(rng: &mut Rng) -> String {
    format!("#{:06x}", rng.u32(..0x100_0000))
}

/// Five colours of hues that go from one to another, by way of equal steps.
fn palette(rng: &mut Rng) -> Vec<String> {
    let from = [0; 3].map(|_: u8| f64::from(rng.u8(..)));
    let to = [0; 3].map(|_: u8| f64::from(rng.u8(..)));
    let mixed = |step: u8| {
        let share = f64::from(step) / 4.0;
        let [red, green, blue] =
            [0, 1, 2].map(|part| (from[part] + (to[part] - from[part]) * share).round() as u8);
        format!("#{red:02x}{green:02x}{blue:02x}")
    };
    (0..5).map(mixed).collect()
}

pub(super) const COLOR: &[Row] = &[
    list("color", COLORS),
    text("hexColor", hex_color),
    plain("niceColors", |rng| palette(rng).into()),
    plain("rgbColor", |rng| (0..3).map(|_| f64::from(rng.u8(..))).collect::<Vec<_>>().into()),
    list("safeColor", SAFE_COLORS),
];

const EMOJIS: &str = "😀|😂|😉|😍|😎|😢|😡|😴|🤔|🤖|👍|👋|👏|🙏|💪|❤️|💔|⭐|🔥|⚡|🌈|☀️|🌙|❄️|🌊|🐶|🐱|🐭|🦊|🐻|🐼|🐸|🐵|🐔|🐧|🐢|🐙|🦋|🐝|🌲|🌻|🍎|🍌|🍇|🍓|🍕|🍔|🍣|🍰|☕|🍺|⚽|🏀|🎾|🎸|🎲|🚗|🚲|🚀|✈️|⏰|💡|📚|🔑|🎁|🎉";

pub(super) const EMOJI: &[Row] = &[
    list("emoji", EMOJIS),
    list(
        "emojiAlias",
        "airplane|apple|banana|bear|bee|beer|bike|book|bulb|cake|cat|clap|coffee|dog|fire|fox_face|gift|grinning|guitar|heart|joy|key|moon|muscle|octopus|\
        panda_face|penguin|pizza|pray|rainbow|rocket|snowflake|soccer|star|sunflower|sunglasses|sunny|tada|thinking|thumbsup|turtle|wave|wink|zap",
    ),
    list(
        "emojiCategory",
        "Activities|Animals & Nature|Flags|Food & Drink|Objects|People & Body|Smileys & Emotion|Symbols|Travel & Places",
    ),
    list(
        "emojiDescription",
        "alarm clock|bear|bouquet|broken heart|butterfly|cat face|clapping hands|crying face|dog face|fire|four leaf clover|grinning face|guitar|hamburger|high voltage|\
        hot beverage|key|light bulb|octopus|party popper|penguin|pizza|rainbow|red apple|red heart|robot|rocket|sleeping face|snowflake|soccer ball|star|sun|sunflower|thinking face|thumbs up|turtle|waving hand|winking face",
    ),
    list(
        "emojiTag",
        "angry|approve|bird|bright|bug|cold|cool|cute|dance|drink|fast|flower|fruit|fun|gift|happy|hello|hot|idea|laugh|love|luck|music|night|party|pet|plant|sad|sleep|smile|space|sport|strong|thanks|tired|travel|weather|win|yum",
    ),
];

pub(super) const FOOD: &[Row] = &[
    list(
        "breakfast",
        "Apple pancakes|Bagel with cream cheese|Banana porridge|Bircher muesli|Blueberry muffins|Boiled eggs and soldiers|Buckwheat waffles|Cheese omelette|Cinnamon rolls|\
        Croissant with jam|French toast|Fruit salad with yoghurt|Granola|Ham and eggs|Mushrooms on toast|Rice porridge|Rye bread with butter|Scrambled eggs|Shakshuka|Smoked salmon bagel|Spinach frittata|Tofu scramble",
    ),
    list(
        "dessert",
        "Almond biscuits|Apple strudel|Baked pears|Bread pudding|Carrot cake|Cheesecake|Cherry pie|Chocolate mousse|Crème brûlée|Fig tart|Gingerbread|Honey cake|Lemon sorbet|\
        Mango pudding|Marble cake|Panna cotta|Plum crumble|Poppy seed cake|Rhubarb fool|Rice pudding|Strawberry shortcake|Tiramisu|Vanilla ice cream|Walnut brownies",
    ),
    list(
        "dinner",
        "Aubergine bake|Baked cod with leeks|Bean chilli|Beef stew|Butter chicken|Chickpea curry|Coq au vin|Fish pie|Gnocchi with sage|Goulash|Grilled trout|Lamb tagine|Lasagne|\
        Lentil dal|Mushroom risotto|Paella|Pad thai|Pizza margherita|Pumpkin ravioli|Ratatouille|Roast chicken|Shepherd's pie|Spinach pie|Stuffed peppers|Vegetable moussaka",
    ),
    list(
        "drink",
        "Apple juice|Black tea|Buttermilk|Chai|Cider|Cocoa|Coffee|Elderflower cordial|Espresso|Ginger beer|Grape juice|Green tea|Iced tea|Lemonade|Milk|Mineral water|Mint tea|Orange juice|Smoothie|Tomato juice|Water|Wine",
    ),
    list(
        "fruit",
        "Apple|Apricot|Avocado|Banana|Blackberry|Blueberry|Cherry|Coconut|Cranberry|Currant|Date|Fig|Gooseberry|Grape|Grapefruit|Guava|Kiwi|Lemon|Lime|Lychee|Mandarin|Mango|Melon|\
        Nectarine|Orange|Papaya|Passion fruit|Peach|Pear|Persimmon|Pineapple|Plum|Pomegranate|Quince|Raspberry|Strawberry|Watermelon",
    ),
    list(
        "lunch",
        "Bean burrito|Caesar salad|Cheese sandwich|Chicken wrap|Couscous salad|Falafel in pita|Fish tacos|French onion soup|Greek salad|Grilled halloumi|Lentil soup|Minestrone|\
        Noodle soup|Potato salad|Quiche|Rice bowl|Spring rolls|Sushi|Tomato soup|Tuna sandwich|Vegetable samosas|Veggie burger",
    ),
    list(
        "snack",
        "Almonds|Apple slices|Breadsticks|Cashews|Cheese cubes|Corn chips|Crackers|Dried apricots|Energy bar|Hummus with carrots|Olives|Peanuts|Pistachios|Popcorn|Pretzels|Pumpkin seeds|Raisins|Rice cakes|Roasted chickpeas|Trail mix|Vegetable crisps",
    ),
    list(
        "vegetable",
        "Artichoke|Asparagus|Aubergine|Beetroot|Broccoli|Brussels sprouts|Cabbage|Carrot|Cauliflower|Celery|Chard|Chicory|Courgette|Cucumber|Fennel|Garlic|Green bean|Kale|Kohlrabi|\
        Leek|Lettuce|Mushroom|Okra|Onion|Parsnip|Pea|Pepper|Potato|Pumpkin|Radish|Rocket|Shallot|Spinach|Swede|Sweetcorn|Sweet potato|Tomato|Turnip",
    ),
];

const DICE: &[Argument] =
    &[argument("numdice", Kind::Number(1.0)), argument("sides", Kind::Numbers(Some(&[6.0])))];

/// Dice beyond the list of sides are like the last of it.
fn dice(asked: &mut Asked<'_>) -> Result<Out, String> {
    let (count, sides) = (asked.given.count(0, "numdice")?, asked.given.numbers(1));
    let Some(last) = sides.last() else { return Err("sides is empty".to_owned()) };
    if let Some(wrong) = sides.iter().find(|&&sides| !(1.0..=1e15).contains(&sides)) {
        return Err(format!("a die has no {wrong} sides"));
    }
    let thrown: Vec<f64> = (0..count)
        .map(|index| asked.rng.u64(1..=*sides.get(index).unwrap_or(last) as u64) as f64)
        .collect();
    Ok(thrown.into())
}

pub(super) const GAME: &[Row] = &[
    with("dice", DICE, dice),
    text("gamertag", |rng| {
        let (adjective, animal) = (capital(words::adjective(rng)), capital(pick(rng, ANIMALS)));
        let number = if rng.bool() { rng.u16(1..1000).to_string() } else { String::new() };
        format!("{adjective}{animal}{number}")
    }),
];

const LANGUAGES: &str = "af=Afrikaans|am=Amharic|ar=Arabic|bg=Bulgarian|bn=Bengali|ca=Catalan|cs=Czech|cy=Welsh|da=Danish|de=German|el=Greek|en=English|eo=Esperanto|es=Spanish|et=Estonian|\
    eu=Basque|fa=Persian|fi=Finnish|fr=French|ga=Irish|gl=Galician|he=Hebrew|hi=Hindi|hr=Croatian|hu=Hungarian|id=Indonesian|is=Icelandic|it=Italian|ja=Japanese|\
    ka=Georgian|kk=Kazakh|km=Khmer|ko=Korean|lt=Lithuanian|lv=Latvian|mn=Mongolian|mt=Maltese|nl=Dutch|no=Norwegian|pl=Polish|pt=Portuguese|ro=Romanian|\
    ru=Russian|sk=Slovak|sl=Slovenian|sq=Albanian|sr=Serbian|sv=Swedish|sw=Swahili|ta=Tamil|te=Telugu|th=Thai|tr=Turkish|uk=Ukrainian|ur=Urdu|vi=Vietnamese|zh=Chinese|zu=Zulu";

pub(super) const LANGUAGE: &[Row] = &[
    text("language", |rng| pick_pair(rng, LANGUAGES).1.to_owned()),
    text("languageAbbreviation", |rng| pick_pair(rng, LANGUAGES).0.to_owned()),
    list(
        "languageBcp",
        "ar-SA|cs-CZ|da-DK|de-AT|de-CH|de-DE|el-GR|en-AU|en-CA|en-GB|en-IE|en-IN|en-US|en-ZA|es-AR|es-ES|es-MX|fi-FI|fr-BE|fr-CA|fr-CH|fr-FR|he-IL|hi-IN|hu-HU|id-ID|it-CH|\
        it-IT|ja-JP|ko-KR|nl-BE|nl-NL|no-NO|pl-PL|pt-BR|pt-PT|ro-RO|ru-RU|sk-SK|sv-SE|ta-IN|th-TH|tr-TR|zh-CN|zh-HK|zh-TW",
    ),
    list(
        "programmingLanguage",
        "Ada|APL|Assembly|Awk|Bash|C|C#|C++|Clojure|COBOL|Crystal|D|Dart|Elixir|Elm|Erlang|F#|Forth|Fortran|Go|Groovy|Haskell|Java|JavaScript|Julia|Kotlin|Lisp|Lua|\
        MATLAB|Nim|OCaml|Pascal|Perl|PHP|Prolog|Python|R|Racket|Raku|Ruby|Rust|Scala|Scheme|Smalltalk|SQL|Swift|Tcl|TypeScript|V|Zig",
    ),
];

pub(super) const MINECRAFT: &[Row] = &[
    list("minecraftAnimal", "chicken|cow|donkey|horse|llama|pig|rabbit|sheep|wolf"),
    list("minecraftArmorPart", "boots|chestplate|helmet|leggings"),
    list("minecraftArmorTier", "chainmail|diamond|gold|iron|leather|netherite"),
    list(
        "minecraftBiome",
        "badlands|beach|desert|forest|jungle|mountain|ocean|plain|river|savanna|swamp|taiga|tundra",
    ),
    list(
        "minecraftDye",
        "black|blue|brown|cyan|gray|green|light blue|light gray|lime|magenta|orange|pink|purple|red|white|yellow",
    ),
    list(
        "minecraftFood",
        "apple|baked potato|beetroot|beetroot soup|bread|cake|carrot|cookie|dried kelp|golden apple|golden carrot|honey bottle|melon slice|mushroom stew|pufferfish|pumpkin pie|rabbit stew|steak|sweet berries",
    ),
    list("minecraftMobBoss", "ender dragon|wither"),
    list(
        "minecraftMobHostile",
        "blaze|creeper|drowned|endermite|evoker|ghast|guardian|husk|magma cube|phantom|pillager|ravager|shulker|silverfish|skeleton|slime|stray|vex|vindicator|witch|zombie",
    ),
    list(
        "minecraftMobNeutral",
        "bee|cave spider|dolphin|enderman|goat|iron golem|llama|panda|piglin|polar bear|spider|wolf",
    ),
    list(
        "minecraftMobPassive",
        "axolotl|bat|cat|chicken|cod|cow|donkey|fox|horse|mooshroom|mule|ocelot|parrot|pig|rabbit|salmon|sheep|squid|strider|turtle|villager",
    ),
    list("minecraftOre", "coal|copper|diamond|emerald|gold|iron|lapis lazuli|redstone"),
    list("minecraftTool", "axe|fishing rod|hoe|pickaxe|shears|shovel"),
    list(
        "minecraftVillagerJob",
        "armorer|butcher|cartographer|cleric|farmer|fisherman|fletcher|leatherworker|librarian|mason|shepherd|toolsmith|weaponsmith",
    ),
    list("minecraftVillagerLevel", "novice|apprentice|journeyman|expert|master"),
    list(
        "minecraftVillagerStation",
        "barrel|blast furnace|brewing stand|cartography table|cauldron|composter|fletching table|grindstone|lectern|loom|smithing table|smoker|stonecutter",
    ),
    list("minecraftWeapon", "axe|bow|crossbow|sword|trident"),
    list("minecraftWeather", "clear|rain|thunder"),
    list("minecraftWood", "acacia|birch|dark oak|jungle|mangrove|oak|spruce"),
];

const FILMS: &str = "A Trip to the Moon|Alien|Amélie|Back to the Future|Bicycle Thieves|Blade Runner|Casablanca|Chinatown|Citizen Kane|City Lights|Das Boot|Double Indemnity|Fargo|\
    Gladiator|High Noon|Jaws|Jurassic Park|Metropolis|Modern Times|Nosferatu|Paths of Glory|Princess Mononoke|Psycho|Ran|Rashomon|Rear Window|Roman Holiday|Seven Samurai|\
    Singin' in the Rain|Solaris|Some Like It Hot|Spirited Away|Stalker|Sunset Boulevard|The Apartment|The General|The Godfather|The Seventh Seal|The Third Man|Vertigo|WALL-E";
const FILM_GENRES: &str = "Action|Adventure|Animation|Biography|Comedy|Crime|Documentary|Drama|Family|Fantasy|Film-Noir|History|Horror|Music|Musical|Mystery|Romance|Sci-Fi|Sport|Thriller|War|Western";

pub(super) const MOVIE: &[Row] = &[
    plain("movie", |rng| {
        Out::record([("Name", pick(rng, FILMS).into()), ("Genre", pick(rng, FILM_GENRES).into())])
    }),
    list("movieGenre", FILM_GENRES),
    list("movieName", FILMS),
];

const CATEGORIES: &str = "art supplies|audio|baby care|bags|bathroom|bedding|bicycles|board games|books|cameras|camping|computers|drinks|footwear|furniture|garden|groceries|\
    hand tools|home appliances|jewellery|kitchenware|lighting|musical instruments|office supplies|pet food|phones|sports equipment|stationery|toys|watches|winter clothing";
const FEATURES: &str = "adjustable|child-safe|cordless|dishwasher-safe|durable|easy to clean|energy-saving|foldable|handmade|heat-resistant|lightweight|long battery life|low-noise|\
    non-slip|portable|rechargeable|recyclable|remote-controlled|scratch-proof|shockproof|stackable|touchscreen|voice-controlled|waterproof|wireless";
const MATERIALS: &str = "aluminium|bamboo|brass|bronze|canvas|cardboard|ceramic|chrome|copper|cork|cotton|denim|felt|glass|granite|leather|linen|marble|paper|plastic|plywood|porcelain|rubber|silicone|silk|stainless steel|steel|suede|titanium|walnut|wool";
const GOODS: &str = "Backpack|Blender|Bottle|Camera|Charger|Clock|Desk|Drill|Fan|Grill|Hammock|Headphones|Heater|Jacket|Kettle|Keyboard|Knife|Lamp|Mirror|Monitor|Mug|Pan|Printer|Radio|Robot|Router|Scale|Scooter|Shelf|Speaker|Stool|Tablet|Tent|Thermometer|Toaster|Torch|Watch";

fn product_name(rng: &mut Rng) -> String {
    let (adjective, material) = (capital(words::adjective(rng)), capital(pick(rng, MATERIALS)));
    format!("{adjective} {material} {}", pick(rng, GOODS))
}

fn description(rng: &mut Rng) -> String {
    let (good, material) = (pick(rng, GOODS).to_lowercase(), pick(rng, MATERIALS));
    let (first, second) = (pick(rng, FEATURES), pick(rng, FEATURES));
    let maker = people::last(rng);
    format!(
        "A {first} {good} of {material}, {second}, made by {maker}. {}",
        pick(
            rng,
            "Comes with a warranty of two years.|Fits into every home.|It is made to last.|Spare parts are in stock.|Tested in our own workshop."
        )
    )
}

/// Eleven digits and the check digit of the code.
fn upc(rng: &mut Rng) -> String {
    let mut code = number_text(rng, 11);
    let sum: u32 = code
        .bytes()
        .enumerate()
        .map(|(place, sign)| u32::from(sign - b'0') * if place % 2 == 0 { 3 } else { 1 })
        .sum();
    code.push(char::from(b'0' + ((10 - sum % 10) % 10) as u8));
    code
}

fn some(rng: &mut Rng, entries: &'static str, most: usize) -> Out {
    let count = rng.usize(1..=most);
    let mut all: Vec<&'static str> = Vec::new();
    for _ in 0..count {
        let one = pick(rng, entries);
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all.into()
}

pub(super) const PRODUCT: &[Row] = &[
    plain("product", |rng| {
        Out::record([
            ("Name", product_name(rng).into()),
            ("Description", description(rng).into()),
            ("Categories", some(rng, CATEGORIES, 4)),
            ("Price", rounded(between(rng, 3.0, 100.0), 2).into()),
            ("Features", some(rng, FEATURES, 5)),
            ("Color", pick(rng, SAFE_COLORS).into()),
            ("Material", pick(rng, MATERIALS).into()),
            ("UPC", upc(rng).into()),
        ])
    }),
    list("productCategory", CATEGORIES),
    text("productDescription", description),
    list("productFeature", FEATURES),
    list("productMaterial", MATERIALS),
    text("productName", product_name),
    text("productUpc", upc),
];
