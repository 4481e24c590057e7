// The data of the first events of a server. EventSource is Brunt's: k6 has none.
function events(url, kinds, count, seconds, params) {
  return new Promise((resolve) => {
    const source = new EventSource(url, params);
    const all = [];
    const end = () => {
      source.close();
      resolve(all);
    };
    const timer = setTimeout(end, seconds * 1000);
    kinds.forEach((kind) => source.addEventListener(kind, (event) => {
      all.push(event.data);
      if (all.length === count) {
        clearTimeout(timer);
        end();
      }
    }));
  });
}
