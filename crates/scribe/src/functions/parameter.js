// A parameter of a URL's query or fragment.
function parameter(url, name) {
  const decoded = (text) => decodeURIComponent(text.replace(/\+/g, ' '));
  const pairs = url.split(/[?#&]/).map((pair) => pair.split('='));
  const pair = pairs.find(([key, ...value]) => value.length > 0 && decoded(key) === name);
  return pair && decoded(pair.slice(1).join('='));
}
