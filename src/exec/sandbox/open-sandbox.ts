import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '#core/errors'
import type { Script } from '#exec/find-script'
import {
  capturedText,
  colorVariables,
  type ProcessEnd,
  type ProcessResult,
  whatIsMissing,
} from '#exec/process'
import { bubblewrapSandbox } from './bubblewrap.ts'
import { type Grants, noGrants } from './grants.ts'
import { sandboxLimits } from './limits.ts'
import {
  notStarted,
  type Places,
  type Sandbox,
  type SandboxProbe,
  type SandboxRequest,
  type SupervisedRequest,
} from './sandbox.ts'
import { seatbeltSandbox } from './seatbelt.ts'
import { isFiltered } from './seccomp.ts'

export interface SandboxMachine {
  platform: NodeJS.Platform
  processor: string
  exists(path: string): boolean
  probe(sandbox: Sandbox): Promise<string>
}

/** Tests once whether a sandbox runs. Never uses a program from the search path or a project. */
export function openSandbox(): Promise<SandboxProbe> {
  return (cachedProbe ??= chooseSandbox({
    platform: process.platform,
    processor: process.arch,
    exists: existsSync,
    probe: probeSandbox,
  }))
}

let cachedProbe: Promise<SandboxProbe> | undefined

export async function chooseSandbox(machine: SandboxMachine): Promise<SandboxProbe> {
  const { platform } = machine
  if (platform === 'linux') return await chooseBubblewrap(machine)
  if (platform === 'darwin') return await chooseSeatbelt(machine)
  return {
    ok: false,
    reason: `no sandbox is available for ${platform}`,
    hint: 'Run it on Linux or macOS.',
  }
}

const bubblewrapPrograms = [
  '/usr/bin/bwrap',
  '/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/run/wrappers/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
]

async function chooseBubblewrap(machine: SandboxMachine): Promise<SandboxProbe> {
  const { processor } = machine
  if (!isFiltered(processor)) {
    const reason = `no system call filter is available for ${processor}`
    return { ok: false, reason, hint: 'Run it on a machine with x64 or arm64.' }
  }
  const program = bubblewrapPrograms.find((path) => machine.exists(path))
  if (program === undefined)
    return { ok: false, reason: 'bubblewrap is not installed', hint: installHint }
  const strict = bubblewrapSandbox({ program, processor, lastUserNamespace: true })
  const problem = await machine.probe(strict)
  if (problem === '') return { ok: true, sandbox: strict, program }
  const sandbox = bubblewrapSandbox({ program, processor, lastUserNamespace: false })
  const secondProblem = await machine.probe(sandbox)
  if (secondProblem === '') return { ok: true, sandbox, program, note: filterOnly }
  // The first problem is the reason, unless the program only lacks the option.
  const reason = problem.includes('disable-userns') ? secondProblem : problem
  return { ok: false, reason: `${program} does not work here: ${reason}`, hint: namespaceHint }
}

const installHint =
  'Install the package bubblewrap of your distribution, such as: apt-get install bubblewrap'

const filterOnly =
  'only the system call filter forbids namespaces inside; bubblewrap 0.8 forbids them too'

/** The most frequent cause first: Ubuntu, Debian, containers. */
const namespaceHint =
  'It needs user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu) or kernel.unprivileged_userns_clone=1 (older Debian); a container must be allowed to make them (docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined).'

const seatbeltProgram = '/usr/bin/sandbox-exec'

async function chooseSeatbelt({ exists, probe }: SandboxMachine): Promise<SandboxProbe> {
  const program = seatbeltProgram
  const sandbox = seatbeltSandbox(program)
  const problem = exists(program) ? await probe(sandbox) : undefined
  if (problem === '') return { ok: true, sandbox, program }
  const reason =
    problem === undefined ? `${program} is missing` : `${program} does not work here: ${problem}`
  return { ok: false, reason, hint: 'It is part of macOS; there is nothing to install.' }
}

/**
 * Runs a small program that checks its sandbox from inside. Returns an empty text if all restrictions
 * apply, else the problems, as in "because …".
 */
async function probeSandbox(sandbox: Sandbox): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-probe-'))
  try {
    const { end, stdout, stderr } = await sandbox.run({
      skillDirectory: directory,
      grants: noGrants,
      command: ({ skill }) => ['/bin/sh', '-c', probeProgram, 'sh', skill, directory],
      environment: () => ({}),
      timeoutMs: 10_000,
      outputLimit: 65_536,
    })
    if (end.kind === 'not-started') return `it cannot be started: ${end.message}`
    if (end.kind !== 'exit' || end.code !== 0) {
      const [firstLine = ''] = capturedText(stderr).trim().split('\n')
      const ending = end.kind === 'exit' ? `it ended with exit code ${end.code}` : 'it did not end'
      return firstLine === '' ? ending : firstLine
    }
    return judge(readFacts(capturedText(stdout)), sandbox.name === 'bubblewrap').join('; ')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

type ProbeFacts = ReadonlyMap<string, string>

const probeProgram = String.raw`
( : > "$1/written" ) 2>/dev/null && echo "skill: written" || echo "skill: kept"
( : > "$2/written" ) 2>/dev/null && [ "$1" != "$2" ] && echo "outside: written" || echo "outside: kept"
( : > written ) 2>/dev/null && echo "work: written" || echo "work: kept"
if [ -r /proc/self/status ]; then
  while read -r name value rest; do
    case $name in CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo "$name $value";; esac
  done < /proc/self/status
  while IFS= read -r line; do echo "limit $line"; done < /proc/self/limits
  interfaces=
  while IFS=: read -r name rest; do
    [ -z "$rest" ] || interfaces="$interfaces$name"
  done < /proc/net/dev
  echo "network: $interfaces"
fi
( echo "fork: done" )
`

export function readFacts(text: string): ProbeFacts {
  const facts = new Map<string, string>()
  for (const line of text.split('\n')) {
    const limit = /^limit (Max(?: [a-z]+)+)\s{2,}(\S+)\s+(\S+)/.exec(line)
    if (limit !== null) facts.set(limit[1] ?? '', limit[3] ?? '')
    const fact = /^(\w+): (.*)$/.exec(line)
    if (fact !== null) facts.set(fact[1] ?? '', (fact[2] ?? '').trim())
  }
  return facts
}

export function judge(facts: ProbeFacts, linux: boolean): string[] {
  const factOf = (name: string) => facts.get(name) ?? 'unknown'
  const checks = linux ? [...everywhere, ...onLinux] : everywhere
  const failedChecks = checks.filter(([name, pattern]) => !pattern.test(facts.get(name) ?? ''))
  const loose = linux
    ? linuxLimits.filter(([name, most]) => !(Number(facts.get(name) ?? '') <= most))
    : []
  return [
    ...failedChecks.map(([name, , sentence]) => `${sentence} (${name}: ${factOf(name)})`),
    ...loose.map(([name, most]) => `${name} is ${factOf(name)}, not ${most}`),
  ]
}

type Fact = readonly [name: string, pattern: RegExp, problem: string]

const everywhere: readonly Fact[] = [
  ['skill', /^kept$/, 'the directory of the skill can be written'],
  ['outside', /^kept$/, 'a directory outside can be written'],
  ['work', /^written$/, 'the working directory cannot be written'],
  ['fork', /^done$/, 'no process can be started'],
]

const onLinux: readonly Fact[] = [
  ['CapEff', /^0+$/, 'root privileges remain'],
  ['CapBnd', /^0+$/, 'root privileges can be regained'],
  ['NoNewPrivs', /^1$/, 'setuid programs take effect'],
  ['Seccomp', /^2$/, 'system calls are not filtered'],
  ['network', /^(?:lo)?$/, 'the network can be seen'],
]

const linuxLimits: readonly (readonly [name: string, most: number])[] = [
  ['Max cpu time', sandboxLimits.cpuSeconds],
  ['Max data size', sandboxLimits.memoryBytes],
  ['Max file size', sandboxLimits.fileBytes],
  ['Max open files', sandboxLimits.openFiles],
  ['Max processes', sandboxLimits.tasks],
  ['Max core file size', 0],
]

export interface Confinement {
  sandbox: Sandbox
  grants: Grants
}

export interface ConfinedScript
  extends SupervisedRequest, Pick<SandboxRequest, 'skillDirectory' | 'state' | 'output'> {
  script: Script
  arguments: readonly string[]
  /** The environment outside. The sandbox gets only the locale and the time zone from it. */
  ambient: Readonly<Record<string, string>>
  /** The script's variables, with the paths inside. */
  variables(places: Places): Readonly<Record<string, string>>
}

export async function runConfined(
  { sandbox, grants }: Confinement,
  request: ConfinedScript,
): Promise<ProcessResult> {
  const {
    script,
    skillDirectory,
    arguments: scriptArguments,
    ambient,
    variables,
    ...processRequest
  } = request
  const isColored = Object.keys(grants.environment).some((name) => colorVariables.has(name))
  const inheritedVariables = Object.fromEntries(
    Object.entries(ambient).filter(
      ([name]) => localeVariables.test(name) || (name === 'NO_COLOR' && !isColored),
    ),
  )
  try {
    const result = await sandbox.run({
      ...processRequest,
      skillDirectory: realpathSync.native(skillDirectory),
      grants,
      command: (places) => [...commandInside(script, places), ...scriptArguments],
      environment: (places) => ({
        ...inheritedVariables,
        PYTHONDONTWRITEBYTECODE: '1',
        ...variables(places),
      }),
    })
    return { ...result, end: explainEnd(script, result.end) }
  } catch (error) {
    return notStarted(messageOf(error))
  }
}

const localeVariables = /^(?:LANG|LANGUAGE|TZ|LC_[A-Z]+)$/

/** The shell inside exits with 127 for anything that is missing, and names only the script. */
function explainEnd(script: Script, end: ProcessEnd): ProcessEnd {
  const isMissing = end.kind === 'exit' && end.code === 127
  const message = isMissing ? whatIsMissing({ file: script.file, cwd: '/' }) : undefined
  return message === undefined ? end : { kind: 'not-started', message }
}

function commandInside({ path, relative, file, args }: Script, places: Places): string[] {
  const innerPaths = new Map([
    [process.execPath, places.node],
    [path, `${places.skill}/${relative}`],
  ])
  return [file, ...args].map((word) => innerPaths.get(word) ?? word)
}
