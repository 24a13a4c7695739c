import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../process.ts'
import { limitingProgram, superviseLimits } from './limits.ts'
import type { Places, Sandbox, SandboxRequest } from './sandbox.ts'

/**
 * macOS: paths stay what they are, and a profile says which may be touched. It has no namespaces:
 * the limits are those of single processes, and a process that leaves its group outlives the script,
 * though in the sandbox. No macOS was at hand to run it; the probe decides before it is used.
 */
export function seatbeltSandbox(program: string): Sandbox {
  return {
    name: 'seatbelt',
    async run(request) {
      // The profile goes by real paths, and /tmp is a link there.
      const temporary = mkdtempSync(join(realpathSync.native(tmpdir()), 'skillrail-sandbox-'))
      try {
        const places = placesIn(temporary, request)
        for (const path of [places.work, places.home, places.scratch]) mkdirSync(path)
        const profile = seatbeltProfile({ ...request, node: process.execPath, temporary })
        const limiting = limitingProgram(false)
        const command = ['/bin/sh', '-c', limiting, 'sh', ...request.command(places)]
        return await superviseLimits(request, async (supervised) =>
          runProcess({
            file: program,
            args: ['-p', profile, ...command],
            cwd: places.work,
            env: environmentOf(places, temporary, request),
            ...supervised,
          }),
        )
      } finally {
        rmSync(temporary, { recursive: true, force: true })
      }
    },
  }
}

function placesIn(temporary: string, request: SandboxRequest): Places {
  return {
    skill: request.skillDirectory,
    node: process.execPath,
    work: join(temporary, 'work'),
    home: join(temporary, 'home'),
    scratch: join(temporary, 'scratch'),
    state: request.state ?? '',
    output: request.output ?? '',
  }
}

function environmentOf(places: Places, temporary: string, { grants, environment }: SandboxRequest) {
  return {
    PATH: '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin',
    HOME: places.home,
    TMPDIR: temporary,
    ...grants.environment,
    ...environment(places),
  }
}

/** Everything that decides what a program under Seatbelt may touch; absolute real paths. */
interface SeatbeltBox extends Pick<
  SandboxRequest,
  'skillDirectory' | 'state' | 'output' | 'grants'
> {
  node: string
  /** The one directory that it may write: working, home and scratch directory lie below it. */
  temporary: string
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

const systemPlaces =
  '/bin /dev /Library/Developer/CommandLineTools /opt/homebrew /private/var/db/dyld /private/var/select /sbin /System /usr'.split(
    ' ',
  )

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
