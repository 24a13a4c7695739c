import { isInside } from '../../base/index.ts'
import type { Grants } from './grants.ts'
import { limitingProgram, type SandboxLimits } from './limits.ts'
import type { Places } from './model.ts'

/** Everything that decides what a program in bubblewrap sees. */
export interface BubblewrapBox {
  skillDirectory: string
  /** The Node that runs us. */
  node: string
  state?: string | undefined
  output?: string | undefined
  /** The machine's programs and libraries, in the order in which they are put in place. */
  system: readonly SystemPath[]
  grants: Grants
  limits: SandboxLimits
  environment: Readonly<Record<string, string>>
  command: readonly string[]
  /** From bubblewrap 0.8 on: no namespace of users can be made inside. The filter says so too. */
  lastUserNamespace: boolean
}

/** A directory or a file that is seen read-only, or a link that is made anew. */
export type SystemPath =
  | { kind: 'bind'; path: string }
  | { kind: 'link'; path: string; target: string }

/** Where things are inside. */
export const bubblewrapPlaces: Places = {
  skill: '/sandbox/skill',
  node: '/sandbox/bin/node',
  work: '/tmp/work',
  home: '/tmp/home',
  scratch: '/tmp/scratch',
  state: '/sandbox/state.json',
  output: '/sandbox/output',
}

/**
 * The descriptors by which bubblewrap gets the filter and its options, and tells of the process that
 * it started.
 */
export const bubblewrapDescriptors = { filter: 3, information: 4, options: 5 } as const

/** The command line: what stands there can be read inside and, outside, by every user. */
export function bubblewrapArguments({ limits, command }: BubblewrapBox): string[] {
  const options = ['--args', String(bubblewrapDescriptors.options)]
  return [...options, '--', '/bin/sh', '-c', limitingProgram(limits, true), 'sh', ...command]
}

/**
 * The options, which go through a pipe, so that paths and granted values show nowhere. The order counts: what
 * comes later lies over what came before, so that no grant reaches the skill, and the root is made
 * read-only last.
 */
export function bubblewrapOptions(box: BubblewrapBox): string[] {
  const { grants, limits } = box
  const places = bubblewrapPlaces
  const reachesSkill = grants.write.some((path) => isInside(path, box.skillDirectory))
  const rows: readonly (readonly string[])[] = [
    ...isolation(box),
    ...Object.entries(box.environment).map(([name, value]) => ['--setenv', name, value]),
    ...box.system.map(systemArguments),
    // Read-only, because root outside owns the switches of the kernel below it.
    ['--proc', '/proc', '--remount-ro', '/proc'],
    ['--dev', '/dev', '--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm'],
    ['--remount-ro', '/dev'],
    ['--size', String(limits.diskBytes), '--tmpfs', '/tmp'],
    ...[places.work, places.home, places.scratch].map((path) => ['--dir', path]),
    ...grants.read.map((path) => ['--ro-bind', path, path]),
    ...grants.write.map((path) => ['--bind', path, path]),
    reachesSkill ? ['--ro-bind', box.skillDirectory, box.skillDirectory] : [],
    ['--ro-bind', box.node, places.node],
    ['--ro-bind', box.skillDirectory, places.skill],
    box.state === undefined ? [] : ['--ro-bind', box.state, places.state],
    box.output === undefined ? [] : ['--bind', box.output, places.output],
    ['--remount-ro', '/', '--chdir', places.work],
    ['--seccomp', String(bubblewrapDescriptors.filter)],
    ['--info-fd', String(bubblewrapDescriptors.information)],
  ]
  return rows.flat()
}

/** `/dev/shm`, which some languages' process pools need. */
const sharedMemoryBytes = 16 * 1024 ** 2

/**
 * `--unshare-all` only tries to make a namespace of users; without one root would keep its rights
 * over every mount, so it is demanded by name.
 */
function isolation({ grants, lastUserNamespace }: BubblewrapBox): string[][] {
  return [
    ['--unshare-user', '--unshare-all'],
    grants.network ? ['--share-net'] : [],
    lastUserNamespace ? ['--disable-userns'] : [],
    ['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
    ['--hostname', 'sandbox', '--clearenv'],
  ]
}

function systemArguments(entry: SystemPath): string[] {
  return entry.kind === 'link'
    ? ['--symlink', entry.target, entry.path]
    : ['--ro-bind', entry.path, entry.path]
}
