export { count as again } from './live.js';
export * from './live.js';
