export * from './leaf.js';
export * as leaf from './leaf.js';
export { default as again, one as uno } from './leaf.js';
export default class Base { name() { return this.constructor.name; } }
