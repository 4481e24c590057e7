// The fields that a browser sends with a form, as the page filled them in; several of one name are a list.
function formFields(page, selector) {
  const form = page.find(selector).first();
  found(`form ${selector}`, () => form.size() || '');
  const fields = {};
  const add = (name, value) => {
    const text = value.replace(/\r?\n/g, '\r\n');
    fields[name] = name in fields ? [].concat(fields[name], text) : text;
  };
  const all = form.find('input, select, textarea');
  for (let i = 0; i < all.size(); i += 1) {
    const field = all.eq(i);
    const name = field.attr('name');
    const type = (field.attr('type') || 'text').toLowerCase();
    const isBox = type === 'checkbox' || type === 'radio';
    const isOff = field.attr('disabled') !== undefined || field.closest('fieldset[disabled]').size() > 0;
    if (!name || isOff || (field.is('input') && /^(submit|button|reset|image|file)$/.test(type))) continue;
    if (field.is('select')) {
      const options = field.find('option');
      let chosen = field.find('option[selected]');
      if (chosen.size() === 0 && field.attr('multiple') === undefined) chosen = options.first();
      for (let k = 0; k < chosen.size(); k += 1) {
        const value = chosen.eq(k).attr('value');
        add(name, value === undefined ? chosen.eq(k).text().trim() : value);
      }
    } else if (field.is('textarea')) {
      add(name, field.text());
    } else if (!isBox || field.attr('checked') !== undefined) {
      add(name, field.attr('value') || (isBox && field.attr('value') === undefined ? 'on' : ''));
    }
  }
  return fields;
}
