// Records a command in a terminal as an asciicast v2 file, docs/recordings/NAME.cast:
//
//   node dev/record.mjs NAME [--title TEXT] [--columns 100] [--rows 30] -- COMMAND [ARGUMENTS…]
//   node dev/record.mjs NAME --text        prints what stood on the screen
//
// The terminal is a pseudo-terminal of util-linux `script`; where there is none, the command gets
// pipes. Paths of this machine, its name and its user do not get into the file.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, hostname, tmpdir, userInfo } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, stripVTControlCharacters } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))

if (import.meta.main) main()

function main() {
  const end = process.argv.indexOf('--')
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2, end === -1 ? undefined : end),
    allowPositionals: true,
    options: {
      title: { type: 'string' },
      columns: { type: 'string', default: '100' },
      rows: { type: 'string', default: '30' },
      text: { type: 'boolean', default: false },
    },
  })
  const [name] = positionals
  const command = end === -1 ? [] : process.argv.slice(end + 1)
  if (name === undefined || !/^[a-z0-9-]+$/.test(name) || (command.length === 0) !== values.text) {
    console.error('usage: node dev/record.mjs NAME [--title TEXT] -- COMMAND [ARGUMENTS…]')
    process.exitCode = 2
    return
  }
  const file = join(root, 'docs', 'recordings', `${name}.cast`)
  if (values.text) return console.log(plainText(readFileSync(file, 'utf8')))
  const size = { columns: Number(values.columns), rows: Number(values.rows) }
  const { events, status } = record(command, size)
  mkdirSync(join(root, 'docs', 'recordings'), { recursive: true })
  writeFileSync(file, castOf(events, { ...size, title: values.title ?? name }))
  console.error(`${relative(process.cwd(), file)}: ${events.length} events, exit code ${status}`)
  process.exitCode = status
}

/** Runs a command in a terminal of that size; each event is `[seconds, text]`. */
function record(command, { columns, rows }) {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-record-'))
  const output = join(directory, 'output')
  const timing = join(directory, 'timing')
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const env = { ...process.env, TERM: 'xterm-256color', COLUMNS: `${columns}`, LINES: `${rows}` }
  try {
    const inside = `stty cols ${columns} rows ${rows}; exec ${line}`
    const log = ['--log-out', output, '--log-timing', timing]
    const { status, error } = spawnSync('script', ['-q', '-e', ...log, '-c', inside], {
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
    })
    if (error === undefined) {
      return { events: eventsOf(readFileSync(output), readFileSync(timing, 'utf8')), status }
    }
    const [file, ...args] = command
    const piped = spawnSync(file, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
    return { events: [[0, piped.stdout.replaceAll('\n', '\r\n')]], status: piped.status ?? 1 }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What `script` wrote: a first line of its own, then bytes that the timing cuts into pieces. */
export function eventsOf(output, timing) {
  let offset = output.indexOf('\n') + 1
  let time = 0
  let open = Buffer.alloc(0)
  const events = []
  for (const line of timing.trim().split('\n')) {
    const [delay, bytes] = line.split(' ').map(Number)
    if (!Number.isFinite(bytes)) continue
    time += delay
    open = Buffer.concat([open, output.subarray(offset, offset + bytes)])
    offset += bytes
    const text = open.toString('utf8')
    // A character that was cut in two goes with its second half.
    if (text.endsWith('\uFFFD')) continue
    open = Buffer.alloc(0)
    const last = events.at(-1)
    if (last !== undefined && time - last[0] < 0.03) last[1] += text
    else events.push([time, text])
  }
  return events
}

/** The recording as a file: a header, then an event a line. */
export function castOf(events, { columns, rows, title }) {
  const header = {
    version: 2,
    width: columns,
    height: rows,
    title,
    env: { TERM: 'xterm-256color' },
  }
  const lines = events.map(([time, text]) => [Number(time.toFixed(3)), 'o', withoutPlaces(text)])
  return [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** What a reader of the terminal saw, without colours; lines that were drawn over are left out. */
export function plainText(cast) {
  const [, ...events] = cast.trim().split('\n')
  const whole = events.map((line) => JSON.parse(line)[2]).join('')
  return stripVTControlCharacters(whole.replaceAll('\r\n', '\n'))
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r') + 1).trimEnd())
    .join('\n')
}

/** Nothing of this machine stays: its paths, its name, who is signed in. */
function withoutPlaces(text) {
  const places = [
    [root.replace(/\/$/, ''), '.'],
    [homedir(), '~'],
    [tmpdir(), ''],
    [hostname(), 'host'],
  ].toSorted(([one], [other]) => other.length - one.length)
  const { username } = userInfo()
  const shown = places.reduce((left, [from, to]) => left.replaceAll(from, to), text)
  return username.length > 2
    ? shown.replaceAll(new RegExp(`\\b${username}\\b`, 'g'), 'user')
    : shown
}
