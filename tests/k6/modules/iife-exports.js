// A library that looks for module.exports
import Scores from './lib/scores.js';
import { table } from './lib/scores.js';
export default function () {
  console.log(JSON.stringify(Scores.add('Ada:3').add('Lin:5').table()), table().length, typeof globalThis.Scores);
}
