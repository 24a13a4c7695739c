import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../process.ts'
import { limitingProgram } from './limits.ts'
import type { Places, Sandbox, SandboxRequest } from './model.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'
import { superviseLimits } from './_supervise-limits.ts'

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
        const limiting = limitingProgram(request.limits, false)
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

function environmentOf(
  places: Places,
  temporary: string,
  { grants, environment }: SandboxRequest,
): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin',
    HOME: places.home,
    TMPDIR: temporary,
    ...grants.environment,
    ...environment(places),
  }
}
