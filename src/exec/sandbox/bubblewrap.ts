import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { isInside } from '#core/read-files'
import { type ChildDescriptor, runProcess } from '#exec/process'
import { resultOr } from '#exec/process-group'
import {
  limitingProgram,
  sandboxLimits,
  superviseLimits,
  waitUntilEmpty,
  watchInhabitants,
} from './limits.ts'
import { notStarted, type Places, type Sandbox, type SandboxRequest } from './sandbox.ts'
import { type FilteredProcessor, seccompFilter } from './seccomp.ts'

interface Bubblewrap {
  program: string
  processor: FilteredProcessor
  /** From bubblewrap 0.8 on: forbids user namespaces inside. The filter forbids them too. */
  lastUserNamespace: boolean
}

export function bubblewrapSandbox(bubblewrap: Bubblewrap): Sandbox {
  const { program: file, processor, lastUserNamespace } = bubblewrap
  const filter = seccompFilter(processor)
  return {
    name: 'bubblewrap',
    run: async (request) =>
      await superviseLimits(request, async (supervisedRequest, stop) => {
        const options = bubblewrapOptions(request, lastUserNamespace)
        // NUL separates the options: one inside a value would start another option.
        if (options.some((option) => option.includes('\0')))
          return notStarted('a path or a value contains a NUL character')
        let first = 0
        let stopWatching = (): void => undefined
        const onText = (text: string): void => {
          stopWatching()
          first = Number(/"child-pid":\s*(\d+)/.exec(text)?.[1] ?? 0)
          if (first > 0) stopWatching = watchInhabitants(first, stop)
        }
        const optionBytes = Buffer.from(options.map((option) => `${option}\0`).join(''))
        const descriptors = new Map<number, ChildDescriptor>([
          ...inheritedDescriptors().map((number) => [number, 'nothing'] as const),
          [bubblewrapDescriptors.filter, { content: filter }],
          [bubblewrapDescriptors.options, { content: optionBytes }],
          [bubblewrapDescriptors.information, { onText }],
        ])
        const args = bubblewrapArguments(request.command(bubblewrapPlaces))
        const place = { file, args, cwd: '/', env: {} }
        const result = await runProcess({ ...place, ...supervisedRequest, descriptors })
        stopWatching()
        if (first > 0) await waitUntilEmpty(first)
        return result
      }),
  }
}

export const bubblewrapPlaces: Places = {
  skill: '/sandbox/skill',
  node: '/sandbox/bin/node',
  work: '/tmp/work',
  home: '/tmp/home',
  scratch: '/tmp/scratch',
  state: '/sandbox/state.json',
  output: '/sandbox/output',
}

/** Descriptors: bubblewrap reads the filter and its options, and writes the ID of its first process. */
const bubblewrapDescriptors = { filter: 3, information: 4, options: 5 } as const

/** Returns the command line, which is readable inside the sandbox and, outside, for every user. */
export function bubblewrapArguments(command: readonly string[]): string[] {
  const options = ['--args', String(bubblewrapDescriptors.options)]
  return [...options, '--', '/bin/sh', '-c', limitingProgram(true), 'sh', ...command]
}

/**
 * Returns the options, which go through a pipe, so that no process list shows paths and granted values.
 * The order matters: a later mount covers an earlier one. So no grant makes the skill writable, and the
 * root becomes read-only last.
 */
export function bubblewrapOptions(
  request: SandboxRequest,
  lastUserNamespace: boolean,
  system: readonly (readonly string[])[] = systemOptions(request.grants.network),
): string[] {
  const { skillDirectory, state, output, grants } = request
  const places = bubblewrapPlaces
  const reachesSkill = grants.write.some((path) => isInside(path, skillDirectory))
  const environment = {
    PATH: '/sandbox/bin:/usr/local/bin:/usr/bin:/bin',
    HOME: places.home,
    TMPDIR: '/tmp',
    ...grants.environment,
    ...request.environment(places),
  }
  const rows: readonly (readonly string[])[] = [
    // `--unshare-all` only tries to create a user namespace. Without one, root would keep its rights
    // over every mount, so `--unshare-user` requires it.
    ['--unshare-user', '--unshare-all'],
    grants.network ? ['--share-net'] : [],
    lastUserNamespace ? ['--disable-userns'] : [],
    ['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
    ['--hostname', 'sandbox', '--clearenv'],
    ...Object.entries(environment).map(([name, value]) => ['--setenv', name, value]),
    ...system,
    // Read-only, because root outside owns the kernel's switches below it.
    ['--proc', '/proc', '--remount-ro', '/proc'],
    ['--dev', '/dev', '--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm'],
    ['--remount-ro', '/dev'],
    ['--size', String(sandboxLimits.diskBytes), '--tmpfs', '/tmp'],
    ...[places.work, places.home, places.scratch].map((path) => ['--dir', path]),
    ...grants.read.map((path) => ['--ro-bind', path, path]),
    ...grants.write.map((path) => ['--bind', path, path]),
    reachesSkill ? ['--ro-bind', skillDirectory, skillDirectory] : [],
    ['--ro-bind', process.execPath, places.node],
    ['--ro-bind', skillDirectory, places.skill],
    state === undefined ? [] : ['--ro-bind', state, places.state],
    output === undefined ? [] : ['--bind', output, places.output],
    ['--remount-ro', '/', '--chdir', places.work],
    ['--seccomp', String(bubblewrapDescriptors.filter)],
    ['--info-fd', String(bubblewrapDescriptors.information)],
  ]
  return rows.flat()
}

/** The size of `/dev/shm`, which the process pools of some languages need. */
const sharedMemoryBytes = 16 * 1024 ** 2

/**
 * Returns the descriptors that a program would inherit: Node closes only those that it opened. A directory
 * among them is a way out.
 */
function inheritedDescriptors(): number[] {
  return resultOr([], () => readdirSync('/proc/self/fdinfo'))
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor))
}

/** The flag `O_CLOEXEC`, in octal as the kernel prints it. */
const closesOnExec = 0o2000000

function isInherited(descriptor: number): boolean {
  const text = resultOr('', () => readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))
  const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1] ?? '0'
  return text !== '' && (Number.parseInt(flags, 8) & closesOnExec) === 0
}

/** Returns the options for the machine's programs and libraries, in the order of their mounts. */
function systemOptions(network: boolean): string[][] {
  const paths = network ? [...everywhere, ...forNetwork] : everywhere
  return paths.flatMap((path) =>
    resultOr([], () => {
      const target = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : ''
      // A link to a place that is missing inside would be broken: its target is mounted instead.
      const isVisible = /^\/?(?:usr|nix)\//.test(target)
      return [isVisible ? ['--symlink', target, path] : ['--ro-bind', path, path]]
    }),
  )
}

/** Excludes files in `/etc` that name people, machines or secrets. */
const everywhere =
  '/usr /bin /sbin /lib /lib32 /lib64 /nix/store /etc/alternatives /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/localtime'.split(
    ' ',
  )

const forNetwork =
  '/etc/ca-certificates /etc/gai.conf /etc/hosts /etc/nsswitch.conf /etc/pki/tls/certs /etc/resolv.conf /etc/ssl/certs /etc/ssl/openssl.cnf'.split(
    ' ',
  )
