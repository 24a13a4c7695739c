import { describe, expect, it } from 'vitest'
import {
  chooseSandbox,
  judge,
  readFacts,
  type SandboxMachine,
} from '../../../src/exec/sandbox/open-sandbox.ts'

const linux: SandboxMachine = {
  platform: 'linux',
  processor: 'x64',
  exists: (path) => path === '/usr/bin/bwrap',
  probe: async () => '',
}

describe('the sandbox of a machine', () => {
  it('is bubblewrap if bubblewrap works', async () => {
    expect(await chooseSandbox(linux)).toMatchObject({
      ok: true,
      sandbox: { name: 'bubblewrap' },
      program: '/usr/bin/bwrap',
    })
  })

  it('is bubblewrap before 0.8 with a warning', async () => {
    const asked: string[] = []
    const probe = async (): Promise<string> =>
      asked.push('') === 1 ? 'unknown option --disable-userns' : ''
    expect(await chooseSandbox({ ...linux, probe })).toMatchObject({
      ok: true,
      note: expect.stringMatching(/only the system call filter/),
    })
  })

  it('is Seatbelt on macOS', async () => {
    const mac = { ...linux, platform: 'darwin', exists: () => true } as const
    expect(await chooseSandbox(mac)).toMatchObject({ ok: true, sandbox: { name: 'seatbelt' } })
  })

  it.each<[string, Partial<SandboxMachine>, RegExp, RegExp]>([
    [
      'nothing is installed',
      { exists: () => false },
      /not installed/,
      /apt-get install bubblewrap/,
    ],
    [
      'it is installed and does not work',
      { probe: async () => 'bwrap: No permissions to create new namespace' },
      /\/usr\/bin\/bwrap does not work here: bwrap: No permissions/,
      /kernel\.apparmor_restrict_unprivileged_userns=0/,
    ],
    ['there is no filter for the processor', { processor: 'riscv64' }, /riscv64/, /x64 or arm64/],
    ['it is Windows', { platform: 'win32' }, /no sandbox is available for win32/, /Linux/],
    ['macOS lacks its program', { platform: 'darwin' }, /sandbox-exec is missing/, /part of macOS/],
  ])('is missing if %s, with a hint', async (_what, changes, reason, hint) => {
    expect(await chooseSandbox({ ...linux, ...changes })).toMatchObject({
      ok: false,
      reason: expect.stringMatching(reason),
      hint: expect.stringMatching(hint),
    })
  })
})

const held = `skill: kept
outside: kept
work: written
CapEff: 0000000000000000
CapBnd: 0000000000000000
NoNewPrivs: 1
Seccomp: 2
limit Max cpu time              600                  600                  seconds
limit Max data size             2147483648           2147483648           bytes
limit Max file size             134217728            134217728            bytes
limit Max open files            1024                 1024                 files
limit Max processes             256                  256                  processes
limit Max core file size        0                    0                    bytes
network:     lo
fork: done`

describe('the probe', () => {
  it('passes if every restriction works', () => {
    expect(judge(readFacts(held), true)).toEqual([])
  })

  it.each([
    ['skill: kept', 'skill: written', /skill can be written/],
    ['outside: kept', 'outside: written', /outside can be written/],
    ['CapEff: 0000000000000000', 'CapEff: 000001ffffffffff', /root privileges/],
    ['NoNewPrivs: 1', 'NoNewPrivs: 0', /setuid/],
    ['Seccomp: 2', '', /not filtered \(Seccomp: unknown\)/],
    ['    lo', ' lo eth0', /network/],
    [
      '256                  256',
      '256                  unlimited',
      /Max processes is unlimited, not 256/,
    ],
    ['fork: done', '', /no process/],
  ])('reports a restriction that does not work: %j as %j', (line, other, message) => {
    expect(judge(readFacts(held.replace(line, other)), true)).toEqual([
      expect.stringMatching(message),
    ])
  })
})
