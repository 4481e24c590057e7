// 148: there is no locale data
export default function () {
  console.log(['b', 'Z', 'ä', 'a', 'A', 'z'].sort((a, b) => a.localeCompare(b)).join(), (1234567.5).toLocaleString());
  console.log(new Date(0).toLocaleString().length > 5, 'I'.toLocaleLowerCase(), typeof Intl === 'undefined' || 'Intl');
}
