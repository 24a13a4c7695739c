import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '#exec/process'
import { limitingProgram, superviseLimits } from './limits.ts'
import type { Places, Sandbox, SandboxRequest } from './sandbox.ts'

/**
 * The sandbox of macOS: paths stay the same, and a profile says which of them are accessible. It has no
 * namespaces: the limits apply to single processes, and a process that leaves its group outlives the
 * script, although in the sandbox. It has not been tested on macOS; the probe decides before its use.
 */
export function seatbeltSandbox(program: string): Sandbox {
  return {
    name: 'seatbelt',
    async run(request) {
      // The profile uses real paths, and /tmp is a link on macOS.
      const temporary = mkdtempSync(join(realpathSync.native(tmpdir()), 'skillrail-sandbox-'))
      try {
        const places: Places = {
          skill: request.skillDirectory,
          node: process.execPath,
          work: join(temporary, 'work'),
          home: join(temporary, 'home'),
          scratch: join(temporary, 'scratch'),
          state: request.state ?? '',
          output: request.output ?? '',
        }
        const env = {
          PATH: '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin',
          HOME: places.home,
          TMPDIR: temporary,
          ...request.grants.environment,
          ...request.environment(places),
        }
        for (const path of [places.work, places.home, places.scratch]) mkdirSync(path)
        const profile = seatbeltProfile(request, temporary)
        const limiting = limitingProgram(false)
        const command = ['/bin/sh', '-c', limiting, 'sh', ...request.command(places)]
        const start = { file: program, args: ['-p', profile, ...command], cwd: places.work, env }
        return await superviseLimits(request, (supervisedRequest) =>
          runProcess({ ...start, ...supervisedRequest }),
        )
      } finally {
        rmSync(temporary, { recursive: true, force: true })
      }
    },
  }
}

/**
 * Returns the profile for `sandbox-exec -p`, which denies everything by default. The last matching rule
 * decides, so the rule for the read-only skill is the last one.
 * @param temporary the only writable directory: it contains the script's other directories
 */
export function seatbeltProfile(
  request: Pick<SandboxRequest, 'skillDirectory' | 'state' | 'output' | 'grants'>,
  temporary: string,
): string {
  const { skillDirectory, state, output, grants } = request
  const readablePaths = [skillDirectory, temporary, ...grants.read, ...grants.write]
  const files = [process.execPath, state, output].filter((path) => path !== undefined)
  const rules = [
    '(version 1)',
    '(deny default)',
    '(allow process-exec)',
    '(allow process-fork)',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    `(allow file-read* ${systemPlaces.map(subpath).join(' ')})`,
    '(allow file-read-metadata)',
    `(allow file-read* ${[...readablePaths.map(subpath), ...files.map(exactly)].join(' ')})`,
    `(allow file-write* ${[temporary, ...grants.write].map(subpath).join(' ')})`,
    `(allow file-write-data ${devices.map(exactly).join(' ')})`,
    ...(output === undefined ? [] : [`(allow file-write* ${exactly(output)})`]),
    ...(grants.network ? ['(allow network*)', '(allow system-socket)'] : []),
    `(deny file-write* ${subpath(skillDirectory)})`,
  ]
  return `${rules.join('\n')}\n`
}

const systemPlaces =
  '/bin /dev /Library/Developer/CommandLineTools /opt/homebrew /private/var/db/dyld /private/var/select /sbin /System /usr'.split(
    ' ',
  )

const devices = ['/dev/null', '/dev/zero', '/dev/dtracehelper']

function subpath(path: string): string {
  return `(subpath ${quote(path)})`
}

function exactly(path: string): string {
  return `(literal ${quote(path)})`
}

function quote(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
