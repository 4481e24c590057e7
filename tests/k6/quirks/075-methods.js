// 75: request sends the method as it is, batch in capitals
import http from 'k6/http';
const U = __ENV.DEMO_URL;
export default function () {
  console.log(http.request('post', `${U}/anything`, 'x').request.method, http.request('GET', `${U}/anything`, 'x').request.body);
  console.log(http.batch([{ method: 'post', url: `${U}/anything`, body: 'x' }])[0].request.method);
  const [get] = http.batch([{ method: 'get', url: `${U}/anything`, body: 'x' }]);
  console.log(get.request.method, JSON.stringify(get.request.body));
}
