import type { Grants } from './grants.ts'

/** Everything that decides what a program under Seatbelt may touch; absolute real paths. */
export interface SeatbeltBox {
  skillDirectory: string
  node: string
  state?: string | undefined
  output?: string | undefined
  /** The one directory that it may write: working, home and scratch directory lie below it. */
  temporary: string
  grants: Grants
}

/**
 * The profile for `sandbox-exec -p`: what is not named is denied. The last rule that fits decides,
 * so what must never be written stands at the end.
 */
export function seatbeltProfile(box: SeatbeltBox): string {
  const { grants } = box
  const read = [box.skillDirectory, box.temporary, ...grants.read, ...grants.write]
  const files = [box.node, box.state, box.output].filter((path) => path !== undefined)
  const rules = [
    '(version 1)',
    '(deny default)',
    '(allow process-exec)',
    '(allow process-fork)',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    `(allow file-read* ${systemPlaces.map(below).join(' ')})`,
    '(allow file-read-metadata)',
    `(allow file-read* ${[...read.map(below), ...files.map(exactly)].join(' ')})`,
    `(allow file-write* ${[box.temporary, ...grants.write].map(below).join(' ')})`,
    `(allow file-write-data ${devices.map(exactly).join(' ')})`,
    ...(box.output === undefined ? [] : [`(allow file-write* ${exactly(box.output)})`]),
    ...(grants.network ? ['(allow network*)', '(allow system-socket)'] : []),
    `(deny file-write* ${below(box.skillDirectory)})`,
  ]
  return `${rules.join('\n')}\n`
}

const systemPlaces = [
  '/bin',
  '/dev',
  '/Library/Developer/CommandLineTools',
  '/opt/homebrew',
  '/private/var/db/dyld',
  '/private/var/select',
  '/sbin',
  '/System',
  '/usr',
]

const devices = ['/dev/null', '/dev/zero', '/dev/dtracehelper']

function below(path: string): string {
  return `(subpath ${quoted(path)})`
}

function exactly(path: string): string {
  return `(literal ${quoted(path)})`
}

/** A string of the profile's language, which is a Scheme. */
function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
