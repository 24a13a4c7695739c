import { existsSync } from 'node:fs'
import { bubblewrapSandbox } from './bubblewrap.ts'
import type { Sandbox, SandboxProbe } from './model.ts'
import { probeSandbox } from './probe.ts'
import { isFiltered } from './seccomp.ts'
import { seatbeltSandbox } from './seatbelt.ts'

/** The machine as the choice of a backend sees it. */
export interface SandboxMachine {
  platform: NodeJS.Platform
  /** As `process.arch` names it. */
  processor: string
  exists(path: string): boolean
  probe(sandbox: Sandbox): Promise<string>
}

/**
 * The sandbox of this machine, or why there is none. Decided by running one, once in a process.
 * Nothing from a search path or a project is ever taken for the program.
 */
export function openSandbox(): Promise<SandboxProbe> {
  return (opened ??= chooseSandbox({
    platform: process.platform,
    processor: process.arch,
    exists: existsSync,
    probe: probeSandbox,
  }))
}

let opened: Promise<SandboxProbe> | undefined

export async function chooseSandbox(machine: SandboxMachine): Promise<SandboxProbe> {
  const { platform } = machine
  if (platform === 'linux') return await chooseBubblewrap(machine)
  if (platform === 'darwin') return await chooseSeatbelt(machine)
  return {
    ok: false,
    reason: `there is no sandbox for ${platform}`,
    hint: 'Run it on Linux (the subsystem of Windows included) or macOS.',
  }
}

const bubblewrapPrograms = [
  '/usr/bin/bwrap',
  '/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/run/wrappers/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
]

async function chooseBubblewrap({
  processor,
  exists,
  probe,
}: SandboxMachine): Promise<SandboxProbe> {
  if (!isFiltered(processor)) {
    const reason = `there is no filter of system calls for ${processor}`
    return { ok: false, reason, hint: 'Run it on a machine with x64 or arm64.' }
  }
  const program = bubblewrapPrograms.find((path) => exists(path))
  if (program === undefined) {
    return { ok: false, reason: 'bubblewrap is not installed', hint: installHint }
  }
  let reason = ''
  for (const lastUserNamespace of [true, false]) {
    const sandbox = bubblewrapSandbox({ program, processor, lastUserNamespace })
    const problem = await probe(sandbox)
    if (problem === '') {
      return { ok: true, sandbox, program, ...(lastUserNamespace ? {} : { note: filterOnly }) }
    }
    // What the first one says is the reason, unless it only did not know the option.
    if (reason === '' || reason.includes('disable-userns')) reason = problem
  }
  return { ok: false, reason: `${program} does not work here: ${reason}`, hint: namespaceHint }
}

const installHint =
  'Install bubblewrap: apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap or pacman -S bubblewrap.'

const filterOnly =
  'namespaces inside are forbidden by the filter of system calls alone: bubblewrap 0.8 forbids them too'

/** In the order of how often it is the cause: Ubuntu, Debian, containers. */
const namespaceHint =
  'It needs namespaces of users: sysctl kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu) or kernel.unprivileged_userns_clone=1 (older Debian); a container must be allowed to make them (docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined).'

const seatbeltProgram = '/usr/bin/sandbox-exec'

async function chooseSeatbelt({ exists, probe }: SandboxMachine): Promise<SandboxProbe> {
  const hint = 'It is part of macOS; nothing has to be installed.'
  if (!exists(seatbeltProgram)) {
    return { ok: false, reason: `${seatbeltProgram} is missing`, hint }
  }
  const sandbox = seatbeltSandbox(seatbeltProgram)
  const problem = await probe(sandbox)
  if (problem === '') return { ok: true, sandbox, program: seatbeltProgram }
  return { ok: false, reason: `${seatbeltProgram} does not work here: ${problem}`, hint }
}
