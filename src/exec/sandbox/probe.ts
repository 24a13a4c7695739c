import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capturedText } from '../capture.ts'
import { noGrants } from './grants.ts'
import { defaultLimits, type SandboxLimits } from './limits.ts'
import type { Sandbox } from './model.ts'

/**
 * Runs a small program in a sandbox that looks at what holds it. An empty answer means that
 * everything does; otherwise what does not, as in "because …".
 */
export async function probeSandbox(sandbox: Sandbox): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-probe-'))
  try {
    const { end, stdout, stderr } = await sandbox.run({
      skillDirectory: directory,
      grants: noGrants,
      limits: defaultLimits,
      command: ({ skill }) => ['/bin/sh', '-c', probeProgram, 'sh', skill, directory],
      environment: () => ({}),
      timeoutMs: 10_000,
      outputLimit: 65_536,
    })
    if (end.kind === 'not-started') return `it cannot be started: ${end.message}`
    if (end.kind !== 'exit' || end.code !== 0) {
      const [said = ''] = capturedText(stderr).trim().split('\n')
      const how = end.kind === 'exit' ? `it ended with exit code ${end.code}` : 'it did not end'
      return said === '' ? how : said
    }
    return judge(readFacts(capturedText(stdout)), sandbox.name === 'bubblewrap').join('; ')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** What {@link probeProgram} prints: facts by name, and the lines of `/proc/self/limits`. */
export type ProbeFacts = ReadonlyMap<string, string>

/**
 * In plain shell, with nothing but what every machine has. The last two lines make a process and
 * come from it.
 */
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

/** What does not hold. */
export function judge(
  facts: ProbeFacts,
  linux: boolean,
  limits: SandboxLimits = defaultLimits,
): string[] {
  const wanted = linux ? [...everywhere, ...onLinux] : everywhere
  const wrong = wanted.filter(([name, holds]) => !holds.test(facts.get(name) ?? ''))
  const loose = linux
    ? limitNames(limits).filter(([name, most]) => !(Number(facts.get(name) ?? '') <= most))
    : []
  return [
    ...wrong.map(([name, , sentence]) => `${sentence} (${name}: ${facts.get(name) ?? 'unknown'})`),
    ...loose.map(([name, most]) => `${name} is ${facts.get(name) ?? 'unknown'}, not ${most}`),
  ]
}

type Fact = readonly [name: string, holds: RegExp, otherwise: string]

const everywhere: readonly Fact[] = [
  ['skill', /^kept$/, 'the directory of the skill can be written'],
  ['outside', /^kept$/, 'a directory outside can be written'],
  ['work', /^written$/, 'the working directory cannot be written'],
  ['fork', /^done$/, 'no process can be made'],
]

const onLinux: readonly Fact[] = [
  ['CapEff', /^0+$/, 'rights of root are left'],
  ['CapBnd', /^0+$/, 'rights of root can be got back'],
  ['NoNewPrivs', /^1$/, 'a setuid program would be obeyed'],
  ['Seccomp', /^2$/, 'system calls are not filtered'],
  ['network', /^(?:lo)?$/, 'the network can be seen'],
]

function limitNames(limits: SandboxLimits): readonly (readonly [string, number])[] {
  return [
    ['Max cpu time', limits.cpuSeconds],
    ['Max data size', Math.ceil(limits.memoryBytes / 1024) * 1024],
    ['Max file size', limits.fileBytes],
    ['Max open files', limits.openFiles],
    ['Max processes', limits.tasks],
    ['Max core file size', 0],
  ]
}
