// The browser's half of partial requests: sends a form in the background and puts the parts that come back in their places.
'use strict';

window.faces = {
  // Settled when the last request is. Another one waits for it: it needs the token that comes back.
  last: Promise.resolve(),

  // Sends the form of a button; `part` is the id of the element to render. Gives false, so that the browser stays.
  ajax(button, part) {
    faces.last = faces.last
      .then(() => faces.send(button, part))
      .catch((error) => faces.tell(error.message));
    return false;
  },

  async send(button, part) {
    const form = button.form;
    const state = form.querySelector('input[name$=".faces.ViewState"]').name;
    const family = state.split('.')[0];
    const fields = new URLSearchParams(new FormData(form));
    fields.set(button.name, button.value);
    fields.set(`${family}.faces.partial.ajax`, 'true');
    fields.set(`${family}.faces.source`, button.id);
    fields.set(`${family}.faces.partial.execute`, form.id);
    fields.set(`${family}.faces.partial.render`, part);
    const headers = { 'Faces-Request': 'partial/ajax', 'X-Requested-With': 'XMLHttpRequest' };
    const response = await fetch(form.action, { method: 'POST', body: fields, headers });
    const answer = new DOMParser().parseFromString(await response.text(), 'text/xml');
    if (!answer.querySelector('partial-response')) {
      throw new Error(`HTTP ${response.status}`);
    }
    faces.apply(answer, state);
  },

  // Does as the answer says.
  apply(answer, state) {
    const redirect = answer.querySelector('redirect');
    if (redirect) {
      location.href = redirect.getAttribute('url');
      return;
    }
    const error = answer.querySelector('error-message');
    if (error) {
      faces.tell(error.textContent);
      return;
    }
    for (const update of answer.querySelectorAll('update')) {
      if (update.id.includes(state)) {
        // The new token is that of all forms of the page.
        for (const input of document.getElementsByName(state)) {
          input.value = update.textContent;
        }
      } else {
        document.getElementById(update.id).outerHTML = update.textContent;
      }
    }
  },

  tell(message) {
    document.querySelector('h1').insertAdjacentText('afterend', message);
  },
};
