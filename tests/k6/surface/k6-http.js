// k6/http: its exports
import m from 'k6/http';
const names = 'get head post put patch del options request asyncRequest batch url file cookieJar CookieJar setResponseCallback expectedStatuses TLS_1_0 TLS_1_1 TLS_1_2 TLS_1_3 OCSP_STATUS_GOOD OCSP_STATUS_REVOKED OCSP_STATUS_SERVER_FAILED OCSP_STATUS_UNKNOWN OCSP_REASON_UNSPECIFIED OCSP_REASON_KEY_COMPROMISE OCSP_REASON_CA_COMPROMISE OCSP_REASON_AFFILIATION_CHANGED OCSP_REASON_SUPERSEDED OCSP_REASON_CESSATION_OF_OPERATION OCSP_REASON_CERTIFICATE_HOLD OCSP_REASON_REMOVE_FROM_CRL OCSP_REASON_PRIVILEGE_WITHDRAWN OCSP_REASON_AA_COMPROMISE'.split(' ');
export default function () {
  for (const k of names) console.log(k, k in m ? (typeof m[k] === 'string' ? m[k] : typeof m[k]) : 'absent');
}
