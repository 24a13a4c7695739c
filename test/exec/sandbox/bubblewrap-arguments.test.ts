import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bubblewrapArguments, bubblewrapOptions } from '../../../src/exec/sandbox/bubblewrap.ts'
import { noGrants } from '../../../src/exec/sandbox/grants.ts'
import type { SandboxRequest } from '../../../src/exec/sandbox/sandbox.ts'

const command = ['sh', '/sandbox/skill/run.sh', '--share-net']
const request: SandboxRequest = {
  skillDirectory: '/home/u/skills/a',
  state: '/runs/state',
  output: '/runs/output',
  grants: noGrants,
  environment: () => ({ NAME: 'value' }),
  command: () => command,
  outputLimit: 10,
}
const system = [
  ['--ro-bind', '/usr', '/usr'],
  ['--symlink', 'usr/bin', '/bin'],
]

const optionsOf = (changes: Partial<SandboxRequest> = {}, lastUserNamespace = true): string =>
  bubblewrapOptions({ ...request, ...changes }, lastUserNamespace, system)
    .join(' ')
    .replace(process.execPath, '/opt/node')

it('builds the options in a fixed order', () => {
  expect(optionsOf()).toBe(
    [
      '--unshare-user --unshare-all --disable-userns --cap-drop ALL --new-session',
      '--die-with-parent --hostname sandbox --clearenv',
      '--setenv PATH /sandbox/bin:/usr/local/bin:/usr/bin:/bin --setenv HOME /tmp/home',
      '--setenv TMPDIR /tmp --setenv NAME value',
      '--ro-bind /usr /usr --symlink usr/bin /bin',
      '--proc /proc --remount-ro /proc',
      '--dev /dev --size 16777216 --tmpfs /dev/shm --remount-ro /dev',
      '--size 268435456 --tmpfs /tmp --dir /tmp/work --dir /tmp/home --dir /tmp/scratch',
      '--ro-bind /opt/node /sandbox/bin/node --ro-bind /home/u/skills/a /sandbox/skill',
      '--ro-bind /runs/state /sandbox/state.json --bind /runs/output /sandbox/output',
      '--remount-ro / --chdir /tmp/work --seccomp 3 --info-fd 4',
    ].join(' '),
  )
})

it.each<[string, Partial<SandboxRequest>, RegExp]>([
  [
    'reading',
    { grants: { ...noGrants, read: ['/data'] } },
    /--dir \/tmp\/scratch --ro-bind \/data \/data --ro-bind \/opt/,
  ],
  [
    'writing',
    { grants: { ...noGrants, write: ['/out'] } },
    /--dir \/tmp\/scratch --bind \/out \/out --ro-bind \/opt/,
  ],
  ['the network', { grants: { ...noGrants, network: true } }, /--unshare-all --share-net/],
  [
    'writing around the skill, which stays read-only',
    { grants: { ...noGrants, write: ['/home/u'] } },
    /--bind \/home\/u \/home\/u --ro-bind \/home\/u\/skills\/a \/home\/u\/skills\/a/,
  ],
])('adds the options for a grant of %s', (_what, changes, options) => {
  expect(optionsOf(changes)).toMatch(options)
})

it('omits only the unknown option for bubblewrap before 0.8', () => {
  expect(optionsOf({}, false)).toBe(optionsOf().replace('--disable-userns ', ''))
})

it('makes only granted paths writable', () => {
  expect(bubblewrapOptions({ ...request, output: undefined }, true, system)).not.toContain('--bind')
})

describe('the command line', () => {
  it('contains neither outside paths nor values, only the program and its limits', () => {
    const line = bubblewrapArguments(command)
    expect(line.slice(0, 5)).toEqual(['--args', '5', '--', '/bin/sh', '-c'])
    expect(line.slice(6)).toEqual(['sh', ...command])
    expect(line.join(' ')).not.toMatch(/home|runs/)
  })

  it('passes the program its arguments unchanged, whatever they look like', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (words) => {
        expect(bubblewrapArguments(words).slice(7)).toEqual(words)
      }),
    )
  })
})
