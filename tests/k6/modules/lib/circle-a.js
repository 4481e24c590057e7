import { b } from './circle-b.js';
export const a = () => 'a';
export const both = () => a() + b();
