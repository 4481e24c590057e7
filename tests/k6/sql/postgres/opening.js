// Connection strings, right and wrong, and what a wrong server, account or database is called: lib/pq's
import sql from 'k6/x/sql';
import driver from 'k6/x/sql/driver/postgres';
import { rows } from '../lib/probe.js';

const port = __ENV.POSTGRES_PORT;
const tried = (label, dsn, text) => rows(label, () => {
  const db = sql.open(driver, dsn);
  try {
    return db.query(text || 'SELECT 1 AS a');
  } finally {
    db.close();
  }
});

export default function () {
  const url = (rest) => `postgres://probe:secret@127.0.0.1:${port}/${rest}`;
  const plain = `host=127.0.0.1 port=${port} user=probe password=secret dbname=probe`;
  tried('URL', url('probe?sslmode=disable'));
  tried('URL, postgresql', url('probe?sslmode=disable').replace('postgres:', 'postgresql:'));
  tried('URL, no sslmode', url('probe'));
  tried('URL, no database', url('?sslmode=disable'), 'SELECT current_database() AS d');
  tried('URL, no slash', `postgres://probe:secret@127.0.0.1:${port}?sslmode=disable`, 'SELECT current_database() AS d');
  tried('URL, escaped', `postgres://pro%62e:s%65cret@127.0.0.1:${port}/pro%62e?sslmode=disable`);
  tried('URL, wrong escape', `postgres://probe:s%zzcret@127.0.0.1:${port}/probe?sslmode=disable`);
  tried('URL, port of letters', 'postgres://probe:secret@127.0.0.1:abc/probe?sslmode=disable');
  tried('URL, other scheme', `mysql://probe:secret@127.0.0.1:${port}/probe`);
  tried('URL, host in the query', `postgres:///probe?host=127.0.0.1&port=${port}&user=probe&password=secret&sslmode=disable`);
  tried('pairs', `${plain} sslmode=disable`);
  tried('pairs, no sslmode', plain);
  tried('pairs, quotes', `${plain.replace('secret', "'secret'")} sslmode='disable'`);
  tried('pairs, spaces', `  ${plain.replace(/=/g, ' = ')}   sslmode = disable `);
  tried('pairs, quote is open', `${plain} sslmode='disable`);
  tried('pairs, escape', `${plain.replace('secret', 'sec\\ret')} sslmode=disable`);
  tried('pairs, no value', `${plain} sslmode`);
  tried('pairs, no key', `${plain} =disable`);
  tried('pairs, empty value', `${plain} sslmode=disable application_name=`, "SELECT current_setting('application_name') AS a");
  tried('pairs, twice', `${plain} sslmode=disable dbname=postgres`, 'SELECT current_database() AS d');
  tried('a word', 'probe');
  tried('closed port', 'postgres://probe:secret@127.0.0.1:1/probe?sslmode=disable');
  tried('closed port, timeout', 'postgres://probe:secret@127.0.0.1:1/probe?sslmode=disable&connect_timeout=1');
  tried('no such socket', 'host=/nowhere user=probe password=secret dbname=probe sslmode=disable');
  tried('unix socket', `host=${__ENV.POSTGRES_SOCKET} port=${port} user=probe password=secret dbname=probe sslmode=disable`);
  tried('wrong password', url('probe?sslmode=disable').replace('secret', 'wrong'));
  tried('no password', url('probe?sslmode=disable').replace(':secret', ''));
  tried('unknown user', url('probe?sslmode=disable').replace('probe:', 'nobody:'));
  tried('unknown database', url('nowhere?sslmode=disable'));
  for (const option of [
    'sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full', 'sslmode=prefer', 'sslmode=allow', 'sslmode=nothing', 'sslmode=', 'sslmode=disable&sslrootcert=/nowhere', 'sslmode=require&sslrootcert=/nowhere', 'sslmode=disable&sslcert=/nowhere', 'sslmode=disable&sslkey=/nowhere', 'sslmode=disable&sslinline=true', 'sslmode=disable&sslsni=0',
    'sslmode=disable&connect_timeout=5', 'sslmode=disable&connect_timeout=0', 'sslmode=disable&connect_timeout=x', 'sslmode=disable&connect_timeout=-1', 'sslmode=disable&application_name=probe', 'sslmode=disable&fallback_application_name=probe',
    'sslmode=disable&options=-c%20statement_timeout%3D100', 'sslmode=disable&options=--nothing', 'sslmode=disable&search_path=probe', 'sslmode=disable&statement_timeout=1000', 'sslmode=disable&statement_timeout=x', 'sslmode=disable&nothing=1', 'sslmode=disable&timezone=Europe/Berlin', 'sslmode=disable&TimeZone=UTC', 'sslmode=disable&datestyle=German', 'sslmode=disable&client_encoding=UTF8', 'sslmode=disable&client_encoding=LATIN1', 'sslmode=disable&extra_float_digits=3',
    'sslmode=disable&binary_parameters=yes', 'sslmode=disable&binary_parameters=no', 'sslmode=disable&binary_parameters=x', 'sslmode=disable&disable_prepared_binary_result=yes', 'sslmode=disable&target_session_attrs=read-write', 'sslmode=disable&target_session_attrs=read-only', 'sslmode=disable&target_session_attrs=x', 'sslmode=disable&krbsrvname=x', 'sslmode=disable&passfile=/nowhere', 'sslmode=disable&keepalives=1', 'sslmode=disable&hostaddr=127.0.0.1', 'sslmode=disable&load_balance_hosts=random', 'sslmode=disable&gssencmode=disable', 'sslmode=disable&channel_binding=disable', 'sslmode=disable&replication=x', 'sslmode=disable&user=nobody', 'sslmode=disable&min_protocol_version=3.0', 'sslmode=disable&default_query_exec_mode=exec', 'sslmode=disable&pool_max_conns=5',
  ]) {
    tried(`?${option}`, url(`probe?${option}`));
  }
  const asked = (option, text) => tried(`?${option}, ${text}`, url(`probe?sslmode=disable&${option}`), text);
  asked('application_name=probe', "SELECT current_setting('application_name') AS a");
  asked('fallback_application_name=probe', "SELECT current_setting('application_name') AS a");
  asked('', "SELECT current_setting('application_name') AS a");
  asked('search_path=probe', "SELECT current_setting('search_path') AS a");
  asked('options=-c%20work_mem%3D1MB', "SELECT current_setting('work_mem') AS a");
  asked('statement_timeout=100', 'SELECT pg_sleep(1) AS a');
  asked('timezone=Europe/Berlin', "SELECT TIMESTAMPTZ '2024-02-29 12:34:56Z' AS a");
  asked('', "SELECT current_setting('client_encoding') AS a, current_setting('datestyle') AS b, current_setting('extra_float_digits') AS c, current_setting('timezone') AS d");
}
