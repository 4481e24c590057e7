// A library that looks for module.exports
import Papa from './lib/iife.js';
import { parse } from './lib/iife.js';
export default function () { console.log(JSON.stringify(Papa.parse('a,b\n1,2')), parse('x').data[0][0]); }
