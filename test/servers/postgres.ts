import { execFileSync, spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './loopback.ts'

export interface Database {
  /** Addresses of the databases `postgres` and `archive`, with user and password. */
  urls: readonly [string, string]
  /** Runs a statement without an MCP server and returns the output. */
  run(statement: string): string
  /** Every statement that the server was sent since it started. */
  log(): string
  stop(): void
}

/** The PostgreSQL programs of Debian; `undefined` if PostgreSQL is not installed. */
export function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).toSorted() : []
  const newest = versions.at(-1)
  return newest === undefined ? undefined : join(root, newest, 'bin')
}

/** Starts a separate PostgreSQL on loopback with the databases of a small shop and an archive. */
export async function startDatabase(): Promise<Database> {
  const programs = postgresPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed (Debian: postgresql)')
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-postgres-'))
  const as = ordinaryUser(directory)
  const data = join(directory, 'data')
  const log = join(directory, 'log')
  const secret = join(directory, 'password')
  const port = await freePort()
  writeFileSync(secret, 'shop-secret\n', { mode: 0o644 })
  const access = ['-A', 'scram-sha-256', '--pwfile', secret]
  run(as, join(programs, 'initdb'), ['-D', data, '-U', 'shop', '--no-sync', ...access])
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: directory,
    fsync: 'off',
    log_statement: 'all',
  }
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${String(value)}`)
  const control = join(programs, 'pg_ctl')
  run(as, control, ['-D', data, '-w', '-l', log, '-o', options.join(' '), 'start'])
  const address = `postgresql://shop:shop-secret@127.0.0.1:${String(port)}`
  const urls = [`${address}/postgres`, `${address}/archive`] as const
  const execute = (url: string, statement: string): string =>
    execFileSync(join(programs, 'psql'), ['-qAt', url, '-c', statement], {
      encoding: 'utf8',
    }).trim()
  execute(urls[0], 'create database archive')
  execute(urls[0], tables)
  execute(urls[1], tables)
  return {
    urls,
    run: (statement) => execute(urls[0], statement),
    log: () => readFileSync(log, 'utf8'),
    stop: () => {
      run(as, control, ['-D', data, '-m', 'immediate', 'stop'])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const tables = `
create table users (id serial primary key, name text not null, email text, status text);
create table orders (id serial primary key, user_id int references users (id), total numeric);
create table visits (at timestamptz default now());
create index orders_by_user on orders (user_id);
create function visit() returns bigint language sql
  as 'insert into visits default values; select count(*) from visits';
insert into users (name, email, status) values ('Ann', 'ann@example.com', 'active'), ('Bob', 'bob@example.com', 'gone');
insert into orders (user_id, total) values (1, 12.50), (1, 7), (2, 3);
`

/** PostgreSQL refuses to run as root: then it runs as Debian's own user for it. */
function ordinaryUser(directory: string): readonly string[] {
  if (process.getuid?.() !== 0) return []
  const id = Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }))
  chownSync(directory, id, id)
  return ['setpriv', `--reuid=${String(id)}`, `--regid=${String(id)}`, '--clear-groups']
}

function run(as: readonly string[], program: string, args: readonly string[]): void {
  const [file = program, ...rest] = [...as, program, ...args]
  const { status, stderr } = spawnSync(file, rest, {
    encoding: 'utf8',
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`)
}
