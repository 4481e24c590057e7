// The text of a date names its zone.
export default function () {
  const date = new Date(Date.UTC(2024, 1, 29, 13, 5, 9, 7));
  console.log(/^Thu Feb 29 2024 \d\d:05:09 GMT[+-]\d{4} \([A-Z0-9+-]+\)$/.test(date.toString()), `${date}` === date.toString());
  console.log(/^\d\d:05:09 GMT[+-]\d{4} \([A-Z0-9+-]+\)$/.test(date.toTimeString()), date.toDateString());
  console.log(date.toUTCString(), date.toISOString(), String(new Date(NaN)));
  console.log(Date.parse(date.toString()) === Math.floor(date / 1000) * 1000, Date.parse('Thu Feb 29 2024 13:05:09 GMT+0000 (UTC)'));
}
