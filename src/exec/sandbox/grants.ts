import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitCode, type ExitCode, messageOf, SkillrailError } from '../../core/errors.ts'
import { isInside } from '../../core/read-files.ts'

export interface Grants {
  /** Real paths; seen inside at the same place. */
  read: readonly string[]
  write: readonly string[]
  /** The whole network, this machine's own services included. */
  network: boolean
  /** Variables with their values. */
  environment: Readonly<Record<string, string>>
}

export const noGrants: Grants = { read: [], write: [], network: false, environment: {} }

export interface GrantProblem {
  grant: string
  message: string
  hint: string
}

interface GrantContext {
  cwd: string
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** Never writable from inside: where trust and configuration are kept. */
  guarded: readonly string[]
}

/**
 * Reads grants as a user writes them: `read:PATH`, `write:PATH`, `net:*`, `env:NAME`. A path is
 * resolved with its links; one that would undo the sandbox is a problem.
 */
export function parseGrants(
  texts: readonly string[],
  context: GrantContext,
): { grants: Grants; problems: readonly GrantProblem[] } {
  const read: string[] = []
  const write: string[] = []
  const environment: Record<string, string> = {}
  const problems: GrantProblem[] = []
  let network = false
  for (const grant of texts) {
    const reading = readGrant(grant, context)
    switch (reading.kind) {
      case 'read':
        read.push(reading.path)
        break
      case 'write':
        write.push(reading.path)
        break
      case 'net':
        network = true
        break
      case 'env':
        environment[reading.name] = reading.value
        break
      case 'problem':
        problems.push({ grant, message: reading.message, hint: reading.hint })
    }
  }
  const grants = { read: [...new Set(read)], write: [...new Set(write)], network, environment }
  return { grants, problems }
}

type GrantReading =
  | { kind: 'read' | 'write'; path: string }
  | { kind: 'net' }
  | { kind: 'env'; name: string; value: string }
  | { kind: 'problem'; message: string; hint: string }

function readGrant(text: string, context: GrantContext): GrantReading {
  const colon = text.indexOf(':')
  const kind = text.slice(0, Math.max(colon, 0))
  const value = text.slice(colon + 1)
  if (value === '') return problem('it names nothing', forms)
  switch (kind) {
    case 'read':
    case 'write':
      return readPath(kind, value, context)
    case 'net':
      return readNetwork(value)
    case 'env':
      return readVariable(value, context)
    default:
      return problem('there is no such kind of grant', forms)
  }
}

const forms = 'Forms: read:PATH, write:PATH, net:*, env:NAME.'

function readPath(kind: 'read' | 'write', value: string, context: GrantContext): GrantReading {
  if (value.includes('\0')) return problem('a path has no NUL character', forms)
  const { cwd, home } = context
  const given = value === '~' || value.startsWith('~/') ? join(home, value.slice(1)) : value
  let path: string
  try {
    path = realpathSync.native(resolve(cwd, given))
  } catch (error) {
    return problem(`the path cannot be used: ${messageOf(error)}`, 'Name one that is there.')
  }
  const reason = whyForbidden(kind, path, context.guarded)
  return reason === undefined ? { kind, path } : problem(reason, 'Name something smaller.')
}

/** A sandbox with one of these from outside would be none. */
const ownPlaces = ['/proc', '/sys', '/dev', '/sandbox', '/tmp/work', '/tmp/home', '/tmp/scratch']

/** Programs and settings of the machine, which everybody runs and reads. */
const systemPlaces = [
  '/bin',
  '/boot',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/nix',
  '/sbin',
  '/usr',
  '/Library',
  '/System',
]

function whyForbidden(
  kind: 'read' | 'write',
  path: string,
  guarded: readonly string[],
): string | undefined {
  if (ownPlaces.some((place) => isInside(place, path) || isInside(path, place))) {
    return `${path} is or holds a place that the sandbox makes itself`
  }
  if (kind === 'read') return undefined
  if (systemPlaces.some((place) => isInside(place, path))) {
    return `${path} belongs to the machine; what is written there acts outside the sandbox`
  }
  const holds = guarded.find((place) => isInside(place, path) || isInside(path, place))
  return holds === undefined
    ? undefined
    : `${path} would let it write in ${holds}, where trust is kept`
}

function readNetwork(value: string): GrantReading {
  if (value === '*') return { kind: 'net' }
  return problem(
    'neither bubblewrap nor Seatbelt can limit the network to a host',
    'net:* gives the whole network, the services of this machine included; or get the data beforehand and grant read:PATH.',
  )
}

function readVariable(name: string, { env }: GrantContext): GrantReading {
  if (!/^[A-Za-z_]\w*$/.test(name)) return problem('this is not a variable name', forms)
  if (ownVariables.test(name)) {
    return problem('the sandbox sets or leaves out this variable itself', 'Grant another one.')
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  if (value === undefined || value.includes('\0')) {
    return problem(`the variable ${name} is not set`, `Set it: export ${name}=…`)
  }
  return { kind: 'env', name, value }
}

/** Ours, and those by which the loader takes libraries from elsewhere before our limits hold. */
const ownVariables = /^(?:PATH|HOME|TMPDIR|PWD|LD_.*|DYLD_.*|SKILLRAIL_.*)$/

function problem(message: string, hint: string): GrantReading {
  return { kind: 'problem', message, hint }
}

/** A script may run only in a sandbox, and none works here. Exit code 4; `hint` says what to do. */
export class SandboxMissingError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.refused
}
