/**
 * Made-up data. This file is made of the tables of `crates/modules/src/faker/`: a test of theirs writes it anew if it is run
 * with `BRUNT_WRITE=1`.
 */
declare module 'k6/x/faker' {
  export interface Address {
    address(): { Address: string; Street: string; City: string; State: string; Zip: string; Country: string; Latitude: number; Longitude: number };
    city(): string;
    country(): string;
    countryAbbreviation(): string;
    latitude(): number;
    /** Defaults: min 0, max 90. */
    latitudeRange(min?: number, max?: number): number;
    longitude(): number;
    /** Defaults: min 0, max 180. */
    longitudeRange(min?: number, max?: number): number;
    state(): string;
    stateAbbreviation(): string;
    street(): string;
    streetName(): string;
    streetNumber(): string;
    streetPrefix(): string;
    streetSuffix(): string;
    zip(): string;
  }

  export interface Animal {
    animal(): string;
    animalType(): string;
    bird(): string;
    cat(): string;
    dog(): string;
    farmAnimal(): string;
    petName(): string;
  }

  export interface App {
    appAuthor(): string;
    appName(): string;
    appVersion(): string;
  }

  export interface Beer {
    beerAlcohol(): string;
    beerBlg(): string;
    beerHop(): string;
    beerIbu(): string;
    beerMalt(): string;
    beerName(): string;
    beerStyle(): string;
    beerYeast(): string;
  }

  export interface Book {
    book(): { Title: string; Author: string; Genre: string };
    bookAuthor(): string;
    bookGenre(): string;
    bookTitle(): string;
  }

  export interface Br {
    brCity(): string;
    /** Defaults: formatted true, alphanumeric false. */
    brCnpj(formatted?: boolean, alphanumeric?: boolean): string;
    /** Defaults: formatted true. */
    brCpf(formatted?: boolean): string;
    /** Defaults: mobile true. */
    brPhoneNumber(mobile?: boolean): string;
    brRg(): string;
    /** Defaults: mode `'random'`. */
    brSearchTerm(mode?: string): string;
    brState(): string;
    brStateAbbr(): string;
    brZipCode(): string;
  }

  export interface Car {
    car(): { Type: string; Fuel: string; Transmission: string; Brand: string; Model: string; Year: number };
    carFuelType(): string;
    carMaker(): string;
    carModel(): string;
    carTransmissionType(): string;
    carType(): string;
  }

  export interface Celebrity {
    celebrityActor(): string;
    celebrityBusiness(): string;
    celebritySport(): string;
  }

  export interface Color {
    color(): string;
    hexColor(): string;
    niceColors(): string[];
    rgbColor(): number[];
    safeColor(): string;
  }

  export interface Company {
    blurb(): string;
    bs(): string;
    buzzword(): string;
    company(): string;
    companySuffix(): string;
    job(): { Company: string; Title: string; Descriptor: string; Level: string };
    jobDescriptor(): string;
    jobLevel(): string;
    jobTitle(): string;
    slogan(): string;
  }

  export interface Emoji {
    emoji(): string;
    emojiAlias(): string;
    emojiCategory(): string;
    emojiDescription(): string;
    emojiTag(): string;
  }

  export interface Error {
    databaseError(): string;
    error(): string;
    errorObjectWord(): string;
    gRPCError(): string;
    httpClientError(): string;
    httpError(): string;
    httpServerError(): string;
    runtimeError(): string;
    validationError(): string;
  }

  export interface File {
    fileExtension(): string;
    fileMimeType(): string;
  }

  export interface Finance {
    cusip(): string;
    isin(): string;
  }

  export interface Food {
    breakfast(): string;
    dessert(): string;
    dinner(): string;
    drink(): string;
    fruit(): string;
    lunch(): string;
    snack(): string;
    vegetable(): string;
  }

  export interface Game {
    /** Defaults: numdice 1, sides `[6]`. */
    dice(numdice?: number, sides?: number[]): number[];
    gamertag(): string;
  }

  export interface Hacker {
    hackerAbbreviation(): string;
    hackerAdjective(): string;
    hackerNoun(): string;
    hackerPhrase(): string;
    hackerVerb(): string;
    hackeringVerb(): string;
  }

  export interface Hipster {
    /** Defaults: paragraphcount 2, sentencecount 2, wordcount 5, paragraphseparator `'<br />'`. */
    hipsterParagraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
    /** Defaults: wordcount 5. */
    hipsterSentence(wordcount?: number): string;
    hipsterWord(): string;
  }

  export interface Internet {
    chromeUserAgent(): string;
    domainName(): string;
    domainSuffix(): string;
    firefoxUserAgent(): string;
    httpMethod(): string;
    httpStatusCode(): number;
    httpStatusCodeSimple(): number;
    httpVersion(): string;
    /** Defaults: width 500, height 500. */
    imageUrl(width?: number, height?: number): string;
    inputName(): string;
    ipv4Address(): string;
    ipv6Address(): string;
    logLevel(): string;
    macAddress(): string;
    operaUserAgent(): string;
    /** Defaults: lower true, upper true, numeric true, special true, space false, length 12. */
    password(lower?: boolean, upper?: boolean, numeric?: boolean, special?: boolean, space?: boolean, length?: number): string;
    safariUserAgent(): string;
    url(): string;
    userAgent(): string;
    username(): string;
  }

  export interface Language {
    language(): string;
    languageAbbreviation(): string;
    languageBcp(): string;
    programmingLanguage(): string;
  }

  export interface Minecraft {
    minecraftAnimal(): string;
    minecraftArmorPart(): string;
    minecraftArmorTier(): string;
    minecraftBiome(): string;
    minecraftDye(): string;
    minecraftFood(): string;
    minecraftMobBoss(): string;
    minecraftMobHostile(): string;
    minecraftMobNeutral(): string;
    minecraftMobPassive(): string;
    minecraftOre(): string;
    minecraftTool(): string;
    minecraftVillagerJob(): string;
    minecraftVillagerLevel(): string;
    minecraftVillagerStation(): string;
    minecraftWeapon(): string;
    minecraftWeather(): string;
    minecraftWood(): string;
  }

  export interface Movie {
    movie(): { Name: string; Genre: string };
    movieGenre(): string;
    movieName(): string;
  }

  export interface Numbers {
    boolean(): boolean;
    float32(): number;
    /** Defaults: min 3, max 5. */
    float32Range(min?: number, max?: number): number;
    float64(): number;
    /** Defaults: min 3, max 5. */
    float64Range(min?: number, max?: number): number;
    hexUint128(): string;
    hexUint16(): string;
    hexUint256(): string;
    hexUint32(): string;
    hexUint64(): string;
    hexUint8(): string;
    int16(): number;
    int32(): number;
    int64(): number;
    int8(): number;
    /** Defaults: min 3, max 5. */
    intRange(min?: number, max?: number): number;
    /** Defaults: min -2147483648, max 2147483647. */
    number(min?: number, max?: number): number;
    randomInt(ints: number[]): number;
    randomUint(uints: number[]): number;
    shuffleInts(ints: number[]): number[];
    uint16(): number;
    uint32(): number;
    uint64(): number;
    uint8(): number;
    /** Defaults: min 0, max 4294967295. */
    uintRange(min?: number, max?: number): number;
  }

  export interface Payment {
    achAccountNumber(): string;
    achRoutingNumber(): string;
    bitcoinAddress(): string;
    bitcoinPrivateKey(): string;
    creditCard(): { Type: string; Number: string; Exp: string; Cvv: string };
    creditCardCVV(): string;
    creditCardExp(): string;
    creditCardExpMonth(): string;
    creditCardExpYear(): string;
    /** Defaults: types `[]`, bins `[]`, gaps false. */
    creditCardNumber(types?: string[], bins?: string[], gaps?: boolean): string;
    creditCardNumberFormatted(): string;
    creditCardType(): string;
    currency(): { Short: string; Long: string };
    currencyLong(): string;
    currencyShort(): string;
    /** Defaults: min 0, max 1000. */
    price(min?: number, max?: number): number;
  }

  export interface Person {
    email(): string;
    firstName(): string;
    gender(): string;
    hobby(): string;
    lastName(): string;
    middleName(): string;
    name(): string;
    namePrefix(): string;
    nameSuffix(): string;
    person(): { FirstName: string; LastName: string; Gender: string; SSN: string; Image: string; Hobby: string; Job: { Company: string; Title: string; Descriptor: string; Level: string }; Address: { Address: string; Street: string; City: string; State: string; Zip: string; Country: string; Latitude: number; Longitude: number }; Contact: { Phone: string; Email: string }; CreditCard: { Type: string; Number: string; Exp: string; Cvv: string } };
    phone(): string;
    phoneFormatted(): string;
    school(): string;
    ssn(): string;
    teams(people: string[], teams: string[]): { [team: string]: string[] };
  }

  export interface Product {
    product(): { Name: string; Description: string; Categories: string[]; Price: number; Features: string[]; Color: string; Material: string; UPC: string };
    productCategory(): string;
    productDescription(): string;
    productFeature(): string;
    productMaterial(): string;
    productName(): string;
    productUpc(): string;
  }

  export interface Strings {
    digit(): string;
    /** Defaults: count 3. */
    digitN(count?: number): string;
    letter(): string;
    /** Defaults: count 3. */
    letterN(count?: number): string;
    lexify(str: string): string;
    numerify(str: string): string;
    randomString(strs: string[]): string;
    shuffleStrings(strs: string[]): string[];
    uuid(): string;
  }

  export interface Time {
    /** Defaults: format `'RFC3339'`. */
    date(format?: string): string;
    /** Defaults: startdate `'1970-01-01'`, enddate `'2024-12-31'`, format `'yyyy-MM-dd'`. */
    dateRange(startdate?: string, enddate?: string, format?: string): string;
    day(): number;
    futureTime(): string;
    hour(): number;
    minute(): number;
    month(): number;
    monthString(): string;
    nanosecond(): number;
    pastTime(): string;
    second(): number;
    timezone(): string;
    timezoneAbbreviation(): string;
    timezoneFull(): string;
    timezoneOffset(): number;
    timezoneRegion(): string;
    weekday(): string;
    year(): number;
  }

  export interface Word {
    actionVerb(): string;
    adjective(): string;
    adverb(): string;
    adverbDegree(): string;
    adverbFrequencyDefinite(): string;
    adverbFrequencyIndefinite(): string;
    adverbManner(): string;
    adverbPhrase(): string;
    adverbPlace(): string;
    adverbTimeDefinite(): string;
    adverbTimeIndefinite(): string;
    comment(): string;
    connective(): string;
    connectiveCasual(): string;
    connectiveComparitive(): string;
    connectiveComplaint(): string;
    connectiveExamplify(): string;
    connectiveListing(): string;
    connectiveTime(): string;
    demonstrativeAdjective(): string;
    descriptiveAdjective(): string;
    helpingVerb(): string;
    indefiniteAdjective(): string;
    interjection(): string;
    interrogativeAdjective(): string;
    intransitiveVerb(): string;
    linkingVerb(): string;
    /** Defaults: paragraphcount 2, sentencecount 2, wordcount 5, paragraphseparator `'<br />'`. */
    loremIpsumParagraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
    /** Defaults: wordcount 5. */
    loremIpsumSentence(wordcount?: number): string;
    loremIpsumWord(): string;
    noun(): string;
    nounAbstract(): string;
    nounCollectiveAnimal(): string;
    nounCollectivePeople(): string;
    nounCollectiveThing(): string;
    nounCommon(): string;
    nounConcrete(): string;
    nounCountable(): string;
    nounDeterminer(): string;
    nounPhrase(): string;
    nounProper(): string;
    nounUncountable(): string;
    /** Defaults: paragraphcount 2, sentencecount 2, wordcount 5, paragraphseparator `'<br />'`. */
    paragraph(paragraphcount?: number, sentencecount?: number, wordcount?: number, paragraphseparator?: string): string;
    phrase(): string;
    possessiveAdjective(): string;
    preposition(): string;
    prepositionCompound(): string;
    prepositionDouble(): string;
    prepositionPhrase(): string;
    prepositionSimple(): string;
    pronoun(): string;
    pronounDemonstrative(): string;
    pronounIndefinite(): string;
    pronounInterrogative(): string;
    pronounObject(): string;
    pronounPersonal(): string;
    pronounPossessive(): string;
    pronounReflective(): string;
    pronounRelative(): string;
    properAdjective(): string;
    quantitativeAdjective(): string;
    question(): string;
    quote(): string;
    /** Defaults: wordcount 5. */
    sentence(wordcount?: number): string;
    simpleSentence(): string;
    transitiveVerb(): string;
    verb(): string;
    verbPhrase(): string;
    word(): string;
  }

  /** The functions of all categories. */
  export interface Zen extends Address, Animal, App, Beer, Book, Br, Car, Celebrity, Color, Company, Emoji, Error, File, Finance, Food, Game, Hacker, Hipster, Internet, Language, Minecraft, Movie, Numbers, Payment, Person, Product, Strings, Time, Word {}

  export class Faker {
    /** @param seed - With a number other than 0, the same values come in every run. */
    constructor(seed?: number);
    readonly address: Address;
    readonly animal: Animal;
    readonly app: App;
    readonly beer: Beer;
    readonly book: Book;
    readonly br: Br;
    readonly car: Car;
    readonly celebrity: Celebrity;
    readonly color: Color;
    readonly company: Company;
    readonly emoji: Emoji;
    readonly error: Error;
    readonly file: File;
    readonly finance: Finance;
    readonly food: Food;
    readonly game: Game;
    readonly hacker: Hacker;
    readonly hipster: Hipster;
    readonly internet: Internet;
    readonly language: Language;
    readonly minecraft: Minecraft;
    readonly movie: Movie;
    readonly numbers: Numbers;
    readonly payment: Payment;
    readonly person: Person;
    readonly product: Product;
    readonly strings: Strings;
    readonly time: Time;
    readonly word: Word;
    readonly number: Numbers;
    readonly string: Strings;
    readonly zen: Zen;
    /** The function of this name, in large or small letters. */
    call<Name extends keyof Zen>(name: Name, ...args: Parameters<Zen[Name]>): ReturnType<Zen[Name]>;
    call(name: string, ...args: any[]): any;
  }

  /** Its seed is the variable `XK6_FAKER_SEED`; without one its values are others in every run. */
  const faker: Faker;
  export default faker;
}
