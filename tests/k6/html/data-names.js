// Names of data-… attributes: initialisms are in capitals, and keys find them by their words
import { parseHTML } from 'k6/html';

const WORDS = 'acl api ascii cpu css dns eof gpu guid html http https id ip json lhs oauth os qps ram rhs rpc sla smtp sql ssh tcp tls ttl udp ui uid uri url utf8 uuid vm xml xsrf xss ids db io jwt csv sso vpn ios cdn';
const KEYS = 'aB AB ab a_b a-b a--b a__b A_B A-B aBC ABC aBc AbC testID testId testIDs TESTID apiURL APIURL userID1 userId1 user_id_1 HTTPServer HTTPSURL OAuthToken oAuthToken idX IDX UID uID UTF8 XMLHTTPRequest fooBAR IPv4 _a foo_ ABCd'.split(' ');
const NAMES = 'a-b ab test-id testid test-id-s t-e-s-t-id api-url user-id-1 user-id1 a--b a-b-c a-bc ab-c https-erver http-server https-url oauth-token o-auth-token id-x uid u-id utf8 xml-http-request foo-b-a-r ip-v4 -a foo- a-b-cd'.split(' ');

export default function () {
  const words = WORDS.split(' ');
  const some = parseHTML(`<p ${words.map((word) => `data-q-${word}=1 data-${word}-z=1`).join(' ')}></p>`).find('p').data();
  console.log(Object.keys(some).sort().join());
  for (const name of ['a-id-', '-id', 'id--id', 'user_id-api', 'a-b_id', 'a-_b', '_a', 'a.b-c', '-', 'x-1-id', 'a-i-d']) {
    console.log(name, JSON.stringify(parseHTML(`<p data-${name}=1></p>`).find('p').data()));
  }
  const all = parseHTML(`<p ${NAMES.map((name) => `data-${name}="v:${name}"`).join(' ')}></p>`).find('p');
  for (const key of KEYS) console.log(key, all.data(key));
}
