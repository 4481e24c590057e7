// import.meta.resolve gives absolute addresses
export default function () {
  console.log(import.meta.resolve('./lib/x.txt').startsWith('file:///'), import.meta.resolve('./lib/x.txt').endsWith('/modules/lib/x.txt'), Object.keys(import.meta).join());
}
