// A segment of a URL's path, from 0.
function segment(url, index) {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '').split(/[?#]/)[0];
  return decodeURIComponent(path.split('/')[index + 1]);
}
