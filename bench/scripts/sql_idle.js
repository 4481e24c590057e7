// A thousand VUs with a pool each that was opened and not used: what a pool costs before its first query.
import { sleep } from 'k6';
import sql from 'k6/x/sql'; // sql
import driver from 'k6/x/sql/driver/mysql'; // sql

export const options = { vus: 1000, duration: '5s' };

const db = sql.open(driver, 'bench:secret@tcp(127.0.0.1:1)/bench'); // sql

export default function () {
  sleep(4);
}
