import { type ChildDescriptor, runProcess } from '../process.ts'
import {
  bubblewrapArguments,
  type BubblewrapBox,
  bubblewrapDescriptors,
  bubblewrapOptions,
  bubblewrapPlaces,
} from './bubblewrap-arguments.ts'
import { inheritedDescriptors } from './_inherited.ts'
import { waitUntilEmpty, watchInhabitants } from './_inhabitants.ts'
import type { Sandbox, SandboxRequest } from './model.ts'
import { notStarted } from './_not-started.ts'
import { seccompFilter } from './seccomp.ts'
import { superviseLimits } from './_supervise-limits.ts'
import type { FilteredProcessor } from './_syscalls.ts'
import { systemPaths } from './system-paths.ts'

export interface Bubblewrap {
  /** By its absolute path. */
  program: string
  processor: FilteredProcessor
  /** Whether it can forbid namespaces of users inside; from 0.8 on. */
  lastUserNamespace: boolean
}

/** Linux: namespaces, a filter of system calls, and limits. */
export function bubblewrapSandbox(bubblewrap: Bubblewrap): Sandbox {
  const filter = seccompFilter(bubblewrap.processor)
  return {
    name: 'bubblewrap',
    run: async (request) =>
      await superviseLimits(request, async (supervised, stop) => {
        const box = boxOf(request, bubblewrap.lastUserNamespace)
        const options = bubblewrapOptions(box)
        // It separates them: one inside a value would be the beginning of another option.
        if (options.some((option) => option.includes('\0'))) {
          return notStarted('a path or a value holds a NUL character')
        }
        let first = 0
        let stopWatching = (): void => undefined
        const descriptors = new Map<number, ChildDescriptor>()
        for (const number of inheritedDescriptors()) descriptors.set(number, 'nothing')
        descriptors.set(bubblewrapDescriptors.filter, { holds: filter })
        descriptors.set(bubblewrapDescriptors.options, { holds: listOf(options) })
        descriptors.set(bubblewrapDescriptors.information, {
          tells(text) {
            stopWatching()
            first = Number(/"child-pid":\s*(\d+)/.exec(text)?.[1] ?? 0)
            if (first > 0) stopWatching = watchInhabitants(first, request.limits, stop)
          },
        })
        const args = bubblewrapArguments(box)
        const file = bubblewrap.program
        const result = await runProcess({
          file,
          args,
          cwd: '/',
          env: {},
          ...supervised,
          descriptors,
        })
        stopWatching()
        if (first > 0) await waitUntilEmpty(first)
        return result
      }),
  }
}

function listOf(options: readonly string[]): Buffer {
  return Buffer.from(options.map((option) => `${option}\0`).join(''))
}

function boxOf(request: SandboxRequest, lastUserNamespace: boolean): BubblewrapBox {
  const { skillDirectory, state, output, grants, limits } = request
  return {
    skillDirectory,
    node: process.execPath,
    state,
    output,
    system: systemPaths(grants.network),
    grants,
    limits,
    environment: {
      PATH: '/sandbox/bin:/usr/local/bin:/usr/bin:/bin',
      HOME: bubblewrapPlaces.home,
      TMPDIR: '/tmp',
      ...grants.environment,
      ...request.environment(bubblewrapPlaces),
    },
    command: request.command(bubblewrapPlaces),
    lastUserNamespace,
  }
}
