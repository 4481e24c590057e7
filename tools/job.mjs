// The measurements of docs/guide/ten-million-rows.md. Called by tools/job.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    stages: { type: 'string', default: 'insertA,insertA1,insertB,select,alter,update1,update2,update3' },
    dsn: { type: 'string', multiple: true, default: [] },
    picture: { type: 'string', default: 'docs/pictures/ten-million-rows.svg' },
    sweep: { type: 'string', default: '200000' }, // rows of each run of the sweeps; 0: none
  },
});
const ROWS = Number(flags.rows);
const STAGES = flags.stages.split(',');
// One statement, and perhaps one commit, for each row: a tenth of the rows is enough to tell the rate.
const SLOW = ['insertA', 'insertA1', 'update1'];
const BATCHES = [1, 10, 100, 1000, 10000];
const THREADS = [1, 2, 4, 8, 15, 30];
const BRUNT = path.resolve(process.env.BRUNT);
const isRoot = process.getuid() === 0;

const folder = mkdtempSync(path.join(tmpdir(), 'brunt-job-'));
chmodSync(folder, 0o755);
const children = [];
const clean = () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
};
process.on('exit', clean);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function ready(name, ask) {
  for (let tries = 0; tries < 600; tries += 1) {
    try {
      ask();
      return;
    } catch {
      await pause(100);
    }
  }
  throw new Error(`${name} does not start`);
}

// Both sync each commit to the disk, as they do where data matters; 512 MB of memory each.
async function mariadb() {
  const [data, socket, port] = [path.join(folder, 'mariadb'), path.join(folder, 'mariadb.sock'), await freePort()];
  const user = isRoot ? ['--user=root'] : [];
  execFileSync('mariadb-install-db', ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', ...user], { stdio: 'ignore' });
  const words = ['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, `--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve', '--innodb-buffer-pool-size=512M', '--innodb-log-file-size=512M', '--local-infile=1'];
  children.push(spawn('mariadbd', [...words, `--pid-file=${folder}/mariadb.pid`, ...user], { stdio: 'ignore', env: withSbin() }));
  const ask = (sql) => execFileSync('mariadb', ['--no-defaults', `--socket=${socket}`, '--user=root', '-e', sql], { stdio: 'ignore' });
  await ready('MariaDB', () => ask('SELECT 1'));
  ask("CREATE DATABASE job; CREATE USER 'job'@'%' IDENTIFIED BY 'job'; GRANT ALL ON *.* TO 'job'@'%'");
  return { name: 'MariaDB', dsn: `job:job@tcp(127.0.0.1:${port})/job` };
}

function withSbin() {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
}

async function postgres() {
  const versions = readdirSync('/usr/lib/postgresql').sort((a, b) => b - a);
  const bin = `/usr/lib/postgresql/${versions[0]}/bin`;
  const [home, port] = [path.join(folder, 'postgres'), await freePort()];
  mkdirSync(home);
  // It refuses to run as root.
  let owner = {};
  if (isRoot) {
    const number = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    owner = { uid: number('-u'), gid: number('-g') };
    chownSync(home, owner.uid, owner.gid);
  }
  const data = path.join(home, 'data');
  execFileSync(`${bin}/initdb`, ['-D', data, '--username=job', '--auth=trust', '--encoding=UTF8', '--locale=C'], { stdio: 'ignore', cwd: home, ...owner });
  const settings = [`port=${port}`, `unix_socket_directories=${home}`, 'listen_addresses=127.0.0.1', 'shared_buffers=512MB', 'max_wal_size=4GB'];
  children.push(spawn(`${bin}/postgres`, ['-D', data, ...settings.flatMap((one) => ['-c', one])], { stdio: 'ignore', cwd: home, ...owner }));
  await ready('PostgreSQL', () => execFileSync(`${bin}/pg_isready`, ['-h', home, '-p', `${port}`], { stdio: 'ignore' }));
  return { name: 'PostgreSQL', dsn: `host=127.0.0.1 port=${port} user=job dbname=postgres sslmode=disable` };
}

// Runs stages of the job. The answer: seconds and rows/s by stage, processor time and the most memory of the whole process.
async function run(database, stages, more) {
  const env = Object.entries({ DSN: database.dsn, STAGE: stages, CHECKSUM: 0, SAMPLES: 100, ...more });
  const words = ['run', '--quiet', '--no-color', ...env.flatMap(([name, value]) => ['-e', `${name}=${value}`]), 'examples/sql/job.js'];
  const child = spawn(BRUNT, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let [said, memory, cpu] = ['', 0, 0];
  child.stdout.on('data', (text) => (said += text));
  child.stderr.on('data', (text) => (said += text));
  const look = setInterval(() => {
    try {
      memory = Math.max(memory, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024);
      const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
      cpu = (Number(fields[11]) + Number(fields[12])) / 100;
    } catch {
      // It has just ended.
    }
  }, 20);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(look);
  if (code !== 0) throw new Error(`${database.name}, ${stages}: exit code ${code}\n${said}`);
  const rates = {};
  for (const [, stage, rows, seconds, rate] of said.matchAll(/msg="([^":]+): (\d+) rows in ([\d.]+) s, (\d+) rows\/s"/g)) {
    rates[stage] = { rows: Number(rows), seconds: Number(seconds), rate: Number(rate) };
  }
  return { rates, memory, cpu };
}

const thousands = (value) => Math.round(value).toLocaleString('en').replaceAll(',', ' ');

async function table(databases) {
  const lines = [];
  for (const database of databases) {
    let filled = 0;
    for (const stage of STAGES) {
      const isSlow = SLOW.includes(stage);
      const rows = isSlow ? Math.max(Math.round(ROWS / 10), 1000) : ROWS;
      if (!stage.startsWith('insert') && filled !== rows) await run(database, 'insertB', { ROWS: rows });
      filled = rows;
      const { rates, memory, cpu } = await run(database, stage, { ROWS: rows });
      for (const [name, { rows: done, seconds, rate }] of Object.entries(rates)) {
        if (stage === 'select' && name === 'select') continue;
        const share = stage === 'select' ? 3 : 1;
        lines.push([database.name, name, thousands(done), seconds.toFixed(2), thousands(rate), ((cpu / share / done) * 1e6).toFixed(2), memory.toFixed(0)]);
        console.error(lines.at(-1).join('  '));
      }
    }
  }
  console.log('| database | stage | rows | s | rows/s | client CPU, µs a row | most memory, MB |\n|---|---|---|---|---|---|---|');
  for (const line of lines) console.log(`| ${line.join(' | ')} |`);
}

async function sweep(databases) {
  const rows = Number(flags.sweep);
  if (rows === 0) return;
  const found = { batch: {}, threads: {} };
  for (const database of databases) {
    found.batch[database.name] = [];
    for (const batch of BATCHES) {
      const few = Math.min(rows, Math.max(batch * 2000, 5000));
      const { rates } = await run(database, 'insertB', { ROWS: few, BATCH: batch });
      found.batch[database.name].push([batch, rates.insertB.rate]);
      console.error(`${database.name}: batches of ${batch}: ${thousands(rates.insertB.rate)} rows/s`);
    }
    found.threads[database.name] = [];
    for (const threads of database.name === 'SQLite' ? [1] : THREADS) {
      const { rates } = await run(database, 'insertB', { ROWS: rows, BATCH: 1000, THREADS: threads });
      found.threads[database.name].push([threads, rates.insertB.rate]);
      console.error(`${database.name}: ${threads} threads: ${thousands(rates.insertB.rate)} rows/s`);
    }
  }
  for (const [name, title, values] of [['batch', 'rows a statement', BATCHES], ['threads', 'threads', THREADS]]) {
    console.log(`\n| ${title} | ${values.join(' | ')} |\n|---${'|---'.repeat(values.length)}|`);
    for (const database of databases) {
      const known = new Map(found[name][database.name]);
      console.log(`| ${database.name} | ${values.map((value) => (known.has(value) ? thousands(known.get(value)) : '')).join(' | ')} |`);
    }
  }
  writeFileSync(flags.picture, picture(found));
  console.error(`${flags.picture}: ${statSync(flags.picture).size} bytes`);
}

// Two plots side by side, both axes logarithmic.
function picture({ batch, threads }) {
  const [width, height, left, top, inner, tall] = [900, 360, 70, 40, 340, 250];
  const tones = ['#1f6feb', '#d1570b', '#2f8a4c', '#8250df'];
  const names = Object.keys(batch);
  const every = [...Object.values(batch), ...Object.values(threads)].flat().map(([, rate]) => rate);
  const low = 10 ** Math.floor(Math.log10(Math.min(...every)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...every)));
  const y = (rate) => top + tall * (1 - Math.log10(rate / low) / Math.log10(high / low));
  const parts = [];
  const text = (x, at, words, more = '') => parts.push(`<text x="${x.toFixed(1)}" y="${at.toFixed(1)}" ${more}>${words}</text>`);
  const plot = (from, title, series, ticks) => {
    const x = (value) => from + (inner * Math.log10(value / ticks[0])) / Math.log10(ticks.at(-1) / ticks[0]);
    text(from, top - 16, title, 'font-weight="600"');
    for (let rate = low; rate <= high; rate *= 10) {
      parts.push(`<line x1="${from}" x2="${from + inner}" y1="${y(rate).toFixed(1)}" y2="${y(rate).toFixed(1)}" stroke="#8884"/>`);
      text(from - 8, y(rate) + 4, thousands(rate), 'text-anchor="end"');
    }
    for (const tick of ticks) text(x(tick), top + tall + 20, thousands(tick), 'text-anchor="middle"');
    names.forEach((name, index) => {
      const points = (series[name] ?? []).map(([value, rate]) => `${x(value).toFixed(1)},${y(rate).toFixed(1)}`);
      parts.push(`<polyline points="${points.join(' ')}" fill="none" stroke="${tones[index]}" stroke-width="2"/>`);
      for (const point of points) {
        const [cx, cy] = point.split(',');
        parts.push(`<circle cx="${cx}" cy="${cy}" r="3.5" fill="${tones[index]}"/>`);
      }
    });
  };
  plot(left, 'insert B: rows/s by rows of a statement', batch, BATCHES);
  plot(left + inner + 100, 'rows/s by threads, 1000 rows a statement', threads, THREADS);
  names.forEach((name, index) => {
    parts.push(`<rect x="${left + index * 130}" y="${height - 26}" width="12" height="12" fill="${tones[index]}"/>`);
    text(left + index * 130 + 18, height - 15, name);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 0 ${width + 20} ${height}" width="${width + 20}" height="${height}" font-family="system-ui, sans-serif" font-size="13" fill="#222">
<rect x="-20" width="${width + 20}" height="${height}" fill="#fff"/>
${parts.join('\n')}
</svg>
`;
}

const databases =
  flags.dsn.length > 0
    ? flags.dsn.map((dsn, index) => ({ name: `database ${index + 1}`, dsn }))
    : [
        { name: 'SQLite', dsn: `file:${folder}/job.db?_pragma=journal_mode(WAL)&_pragma=busy_timeout(60000)` },
        await mariadb(),
        await postgres(),
      ];
console.log(`${cpus().length} × ${cpus()[0].model.trim()}, ${(totalmem() / 2 ** 30).toFixed(0)} GB; ${execFileSync(BRUNT, ['version'], { encoding: 'utf8' }).split('\n')[0]}\n`);
await table(databases);
await sweep(databases);
process.exit(0);
