/**
 * Declarations of Brunt. The modules of k6 are declared by the package `@types/k6`; these files declare the modules of
 * Brunt's own, and add to those of k6 whatever Brunt has beyond.
 */

/// <reference path="./brunt-options.d.ts" />
/// <reference path="./data.d.ts" />
/// <reference path="./dns.d.ts" />
/// <reference path="./experimental.d.ts" />
/// <reference path="./faker.d.ts" />
/// <reference path="./fasthttp.d.ts" />
/// <reference path="./icmp.d.ts" />
/// <reference path="./jslib-assertions.d.ts" />
/// <reference path="./jslib.d.ts" />
/// <reference path="./mqtt.d.ts" />
/// <reference path="./redis.d.ts" />
/// <reference path="./shared-array.d.ts" />
/// <reference path="./sql.d.ts" />
/// <reference path="./summary.d.ts" />
/// <reference path="./tcp.d.ts" />
/// <reference path="./websockets.d.ts" />
/// <reference path="./x509.d.ts" />

import './globals.js';
import './web.js';
import './streams.js';
import './webcrypto.js';
import './html.js';
import './http.js';
import './k6.js';
import './options.js';
