// k6/ws: what is dialled when there is no URL, and what its tag says
import ws from 'k6/ws';

export default function () {
  for (const url of [undefined, null, '', 5, {}]) {
    try {
      const res = ws.connect(url, () => 0);
      console.log(String(url), res.status, JSON.stringify(res.url), res.error);
    } catch (e) {
      console.log(String(url), 'threw', e.message);
    }
  }
}
