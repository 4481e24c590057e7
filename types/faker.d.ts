declare module 'k6/x/faker' {
  export class Faker {
    constructor(seed?: number);
    [category: string]: any;
  }
  const faker: Faker;
  export default faker;
}
