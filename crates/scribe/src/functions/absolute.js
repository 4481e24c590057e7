// A link as the page at this URL means it.
function absolute(page, href) {
  const link = href.split('#')[0];
  const [, origin, folder] = /^([a-z]+:\/\/[^/?#]*)([^?#]*\/)?/i.exec(page);
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return link;
  if (link.startsWith('//')) return origin.split('//')[0] + link;
  if (link.startsWith('/')) return origin + link;
  if (link.startsWith('?') || link === '') return page.split(/[?#]/)[0] + link;
  const path = [];
  `${folder || '/'}${link}`.split('/').slice(1).forEach((part, i, all) => {
    if (part === '..') path.pop();
    if (part !== '..' && part !== '.') path.push(part);
    else if (i === all.length - 1) path.push('');
  });
  return `${origin}/${path.join('/')}`;
}
