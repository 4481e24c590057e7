// Imports by a name that a module of k6 does not have: null, but undefined where a module exports one object.
import { nope as ofK6 } from 'k6';
import { nope as ofHttp } from 'k6/http';
import { nope as ofMetrics } from 'k6/metrics';
import { nope as ofData } from 'k6/data';
import { nope as ofCrypto } from 'k6/crypto';
import { nope as ofEncoding } from 'k6/encoding';
import { nope as ofExecution } from 'k6/execution';
import { nope as ofHtml } from 'k6/html';
import { nope as ofWs } from 'k6/ws';
import { EventName } from 'k6/websockets';
import { nope as ofGrpc } from 'k6/net/grpc';
import { nope as ofTimers } from 'k6/timers';

export default function () {
  const all = { ofK6, ofHttp, ofMetrics, ofData, ofCrypto, ofEncoding, ofExecution, ofHtml, ofWs, EventName, ofGrpc, ofTimers };
  for (const [name, value] of Object.entries(all)) console.log(name, typeof value, value === null);
  ofCrypto(5);
}
