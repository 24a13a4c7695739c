import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exitCode, type ExitCode, messageOf, SkillrailError } from '#core/errors'
import { isInside } from '#core/read-files'

export interface Grants {
  read: readonly string[]
  write: readonly string[]
  /** The whole network, including the services of this machine. */
  network: boolean
  environment: Readonly<Record<string, string>>
}

export const noGrants: Grants = { read: [], write: [], network: false, environment: {} }

interface GrantProblem {
  grant: string
  message: string
  hint: string
}

interface GrantContext {
  cwd: string
  home: string
  env: Readonly<Record<string, string | undefined>>
  /** Directories with trust and configuration: never writable from inside. */
  guarded: readonly string[]
}

/** Parses `read:PATH`, `write:PATH`, `net:*` and `env:NAME`. A grant that undoes the sandbox is a problem. */
export function parseGrants(texts: readonly string[], context: GrantContext) {
  const paths = { read: new Set<string>(), write: new Set<string>() }
  const environment: Record<string, string> = {}
  const problems: GrantProblem[] = []
  let network = false
  for (const grant of texts) {
    const colon = grant.indexOf(':')
    const kind = grant.slice(0, Math.max(colon, 0))
    const value = grant.slice(colon + 1)
    try {
      if (value === '') throw new Refusal('it is empty', forms)
      if (kind === 'read' || kind === 'write') paths[kind].add(pathOf(kind, value, context))
      else if (kind === 'env') environment[value] = valueOf(value, context)
      else if (kind !== 'net') throw new Refusal('this is not a known kind of grant', forms)
      else if (value === '*') network = true
      else throw new Refusal(noHosts, wholeNetwork)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      problems.push({ grant, message: error.message, hint: error.hint })
    }
  }
  const grants = { read: [...paths.read], write: [...paths.write], network, environment }
  return { grants, problems }
}

class Refusal extends Error {
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.hint = hint
  }
}

const forms = 'Forms: read:PATH, write:PATH, net:*, env:NAME.'

const noHosts = 'neither bubblewrap nor Seatbelt can restrict the network to one host'
const wholeNetwork = 'net:* allows the whole network; or fetch the data first and grant read:PATH.'

function pathOf(kind: 'read' | 'write', value: string, context: GrantContext): string {
  if (value.includes('\0')) throw new Refusal('a path has no NUL character', forms)
  const { cwd, home, guarded } = context
  const expandedPath = value === '~' || value.startsWith('~/') ? join(home, value.slice(1)) : value
  let path: string
  try {
    path = realpathSync.native(resolve(cwd, expandedPath))
  } catch (error) {
    throw new Refusal(`the path cannot be used: ${messageOf(error)}`, 'Name an existing path.')
  }
  const reason = whyForbidden(kind, path, guarded)
  if (reason !== undefined) throw new Refusal(reason, 'Name a smaller directory.')
  return path
}

/** Directories that the sandbox creates. One of them from outside would break its protection. */
const sandboxPlaces = [
  '/proc',
  '/sys',
  '/dev',
  '/sandbox',
  '/tmp/work',
  '/tmp/home',
  '/tmp/scratch',
]

/** The machine's programs and settings, which every account uses. */
const systemPlaces = '/bin /boot /etc /lib /lib32 /lib64 /nix /sbin /usr /Library /System'.split(
  ' ',
)

function whyForbidden(kind: 'read' | 'write', path: string, guarded: readonly string[]) {
  if (sandboxPlaces.some((place) => isInside(place, path) || isInside(path, place))) {
    return `${path} is or contains a directory that the sandbox creates itself`
  }
  if (kind === 'read') return undefined
  if (systemPlaces.some((place) => isInside(place, path))) {
    return `${path} belongs to the system; what is written there takes effect outside the sandbox`
  }
  const trustPlace = guarded.find((place) => isInside(place, path) || isInside(path, place))
  return trustPlace === undefined
    ? undefined
    : `${path} would let it write in ${trustPlace}, where trust is kept`
}

function valueOf(name: string, { env }: GrantContext): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Refusal('this is not a variable name', forms)
  if (reservedVariables.test(name)) {
    const message = 'the sandbox sets or leaves out this variable itself'
    throw new Refusal(message, 'Grant another one.')
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  if (value === undefined || value.includes('\0'))
    throw new Refusal(`the variable ${name} is not set`, `Set it: export ${name}=…`)
  return value
}

/** Our variables, and those that make the loader use other libraries before our limits apply. */
const reservedVariables = /^(?:PATH|HOME|TMPDIR|PWD|LD_.*|DYLD_.*|SKILLRAIL_.*)$/

/** A script must run in a sandbox, and no sandbox works here. Exit code 4; `hint` says what to do. */
export class SandboxMissingError extends SkillrailError {
  override readonly exitCode: ExitCode = exitCode.refused
}
