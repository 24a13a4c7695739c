import { describe, expect, it } from 'vitest'
import { isFiltered, refusedCalls, seccompFilter } from '../../../src/exec/sandbox/seccomp.ts'

const audit = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
const processors = ['x64', 'arm64'] as const
const answers = new Map([
  [0x7fff0000, 'allowed'],
  [0x80000000, 'killed'],
  [0x00050001, 'EPERM'],
  [0x00050026, 'ENOSYS'],
  [0x00050061, 'EAFNOSUPPORT'],
])

/** What the kernel would do: classic BPF over `struct seccomp_data`. */
function judge(program: Buffer, call: number, args: readonly bigint[], processor: number): string {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call >>> 0, 0)
  data.writeUInt32LE(processor, 4)
  args.forEach((value, index) => data.writeBigUInt64LE(value, 16 + 8 * index))
  let accumulator = 0
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at)
    const [ifTrue, ifFalse] = [program.readUInt8(at + 2), program.readUInt8(at + 3)]
    const value = program.readUInt32LE(at + 4)
    const jump = (holds: boolean): void => void (at += 8 * (holds ? ifTrue : ifFalse))
    switch (code) {
      case 0x20:
        accumulator = data.readUInt32LE(value)
        break
      case 0x06:
        return answers.get(value) ?? `unknown answer ${value}`
      case 0x15:
        jump(accumulator === value)
        break
      case 0x25:
        jump(accumulator > value)
        break
      case 0x35:
        jump(accumulator >= value)
        break
      case 0x45:
        jump((accumulator & value) !== 0)
        break
      default:
        throw new Error(`instruction ${code} at ${at}`)
    }
  }
  throw new Error('the program has no end')
}

describe.each(processors)('the filter for %s', (processor) => {
  const program = seccompFilter(processor)
  const ask = (call: number, ...args: bigint[]): string =>
    judge(program, call, args, audit[processor])
  const number = {
    x64: { clone: 56, ioctl: 16, socket: 41 },
    arm64: { clone: 220, ioctl: 29, socket: 198 },
  }
  const { clone, ioctl, socket } = number[processor]

  it('is valid for the kernel: whole instructions, not too many, always with a result', () => {
    expect(program.length % 8).toBe(0)
    expect(program.length / 8).toBeLessThan(4096)
    const verdicts = Array.from({ length: 1024 }, (_value, call) => ask(call))
    expect(verdicts.filter((verdict) => ![...answers.values()].includes(verdict))).toEqual([])
  })

  it.each(refusedCalls().map((call) => [call.name, call] as const))('refuses %s', (_name, call) => {
    const refused = call[processor]
    if (refused === undefined) return
    expect(ask(refused)).toBe(call.answer === 'absent' ? 'ENOSYS' : 'EPERM')
  })

  it('allows the calls that every program needs', () => {
    // read, write, openat, execve, exit_group, mmap, wait4, pipe2, futex, getrandom
    const needed = {
      x64: [0, 1, 257, 59, 231, 9, 61, 293, 202, 318],
      arm64: [63, 64, 56, 221, 94, 222, 260, 59, 98, 278],
    }
    expect(needed[processor].map((call) => ask(call))).toEqual(
      needed[processor].map(() => 'allowed'),
    )
  })

  it.each([
    ['a process', 0x11n, 'allowed'],
    ['a thread of the C library', 0x3d0f00n, 'allowed'],
    ['a namespace of users', 0x10000011n, 'EPERM'],
    ['a namespace of mounts', 0x20011n, 'EPERM'],
    ['a namespace of networks', 0x40000011n, 'EPERM'],
    ['a namespace behind bits that nobody looks at', 0xffffffff10000000n, 'EPERM'],
  ])('decides about clone with %s', (_what, flags, verdict) => {
    expect(ask(clone, flags)).toBe(verdict)
  })

  it.each([
    ['the size of the terminal', 0x5413n, 'allowed'],
    ['TIOCSTI', 0x5412n, 'EPERM'],
    ['TIOCSTI with bits above', 0xdeadbeef00005412n, 'EPERM'],
    ['TIOCLINUX', 0x541cn, 'EPERM'],
  ])('decides about ioctl with %s', (_what, request, verdict) => {
    expect(ask(ioctl, 0n, request)).toBe(verdict)
  })

  it.each([
    ['local', 1n, 0n, 'EAFNOSUPPORT'],
    ['IPv4', 2n, 0n, 'allowed'],
    ['IPv6', 10n, 6n, 'allowed'],
    ['netlink for routes', 16n, 0n, 'allowed'],
    ['netlink for packet filters', 16n, 12n, 'EAFNOSUPPORT'],
    ['packet', 17n, 0n, 'EAFNOSUPPORT'],
    ['virtual machine', 40n, 0n, 'EAFNOSUPPORT'],
  ])('decides about a socket of the family %s', (_what, family, protocol, verdict) => {
    expect(ask(socket, family, 1n, protocol)).toBe(verdict)
  })

  it('answers unlisted calls as if they did not exist', () => {
    expect([462, 463, 470, 1000].map((call) => ask(call))).toEqual([
      'allowed',
      'ENOSYS',
      'ENOSYS',
      'ENOSYS',
    ])
  })

  it.each(
    [0x40000003, 0xc0000028, 0, 0xc000003e, 0xc00000b7].filter(
      (other) => other !== audit[processor],
    ),
  )('kills a program for processor %d, whose calls have other numbers', (other) => {
    expect(judge(program, 0, [], other)).toBe('killed')
  })
})

it('kills a call of the x32 form, which shares the name of x64', () => {
  const program = seccompFilter('x64')
  expect(judge(program, 0x40000000 + 101, [], audit.x64)).toBe('killed')
})

it('has a filter for x64 and arm64 only', () => {
  expect(['x64', 'arm64', 'ia32', 'riscv64', 'toString'].map(isFiltered)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})
