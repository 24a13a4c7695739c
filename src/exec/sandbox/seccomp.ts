import {
  examinedCalls,
  type FilteredProcessor,
  newestKnownCall,
  refusedCalls,
} from './_syscalls.ts'

/**
 * The seccomp filter as the bytes that the kernel takes: classic BPF, eight bytes an instruction, in
 * the byte order of both processors. Refused calls answer an error; a program for another processor
 * is killed, because its calls have other numbers.
 */
export function seccompFilter(processor: FilteredProcessor): Buffer {
  const { number, audit } = processors[processor]
  const program: Instruction[] = [
    load(offsetOf.processor),
    ...unless(jump.equal, audit, [answer(kill)]),
    load(offsetOf.call),
    ...(number === undefined ? [] : when(jump.atLeast, number, [answer(kill)])),
    ...when(jump.above, newestKnownCall, [answer(error(errors.notThere))]),
    ...refusedCalls.flatMap((call) => {
      const refused = call[processor]
      if (refused === undefined) return []
      const code = call.answer === 'absent' ? errors.notThere : errors.notPermitted
      return when(jump.equal, refused, [answer(error(code))])
    }),
    ...when(jump.equal, examinedCalls.clone[processor], [
      load(argument(0)),
      ...when(jump.anyBit, newNamespaces, [answer(error(errors.notPermitted))]),
      answer(allow),
    ]),
    ...when(jump.equal, examinedCalls.ioctl[processor], [
      load(argument(1)),
      ...terminalRequests.flatMap((request) =>
        when(jump.equal, request, [answer(error(errors.notPermitted))]),
      ),
      answer(allow),
    ]),
    ...when(jump.equal, examinedCalls.socket[processor], [
      load(argument(0)),
      ...families.internet.flatMap((family) => when(jump.equal, family, [answer(allow)])),
      ...when(jump.equal, families.netlink, [
        load(argument(2)),
        ...when(jump.equal, routes, [answer(allow)]),
      ]),
      answer(error(errors.noFamily)),
    ]),
    answer(allow),
  ]
  return Buffer.concat(program.map(encode))
}

/** Whether there is a filter for a processor, as `process.arch` names it. */
export function isFiltered(processor: string): processor is FilteredProcessor {
  return Object.hasOwn(processors, processor)
}

/**
 * How the kernel names the processor of a call (`linux/audit.h`), and from which number on it is one
 * of the x32 form, which shares the name of x64.
 */
const processors = {
  x64: { audit: 0xc000003e, number: 0x40000000 },
  arm64: { audit: 0xc00000b7, number: undefined },
} as const satisfies Record<FilteredProcessor, { audit: number; number: number | undefined }>

/** Answers of a filter (`linux/seccomp.h`). */
const kill = 0x80000000
const allow = 0x7fff0000
const error = (code: number): number => 0x00050000 | code

const errors = { notPermitted: 1, notThere: 38, noFamily: 97 } as const

/** Every `CLONE_NEW…` that `clone` takes: mount, cgroup, host name, IPC, user, process, network. */
const newNamespaces = 0x7e020000

/** Requests that type for the person at the terminal, or change how it reads: TIOCSTI, TIOCSETD, TIOCLINUX. */
const terminalRequests = [0x5412, 0x5423, 0x541c]

/**
 * IPv4 and IPv6 reach what the network namespace holds; of netlink only routes, which C libraries
 * ask for. A local socket is refused: one that lies in a granted directory would lead outside.
 */
const families = { internet: [2, 10], netlink: 16 } as const
const routes = 0

/** Places in what a filter is given (`struct seccomp_data`); of an argument its lower half. */
const offsetOf = { call: 0, processor: 4 } as const
const argument = (index: number): number => 16 + 8 * index

interface Instruction {
  code: number
  ifTrue: number
  ifFalse: number
  value: number
}

/** Operations of classic BPF (`linux/bpf_common.h`). */
const jump = { equal: 0x15, above: 0x25, atLeast: 0x35, anyBit: 0x45 } as const

function load(offset: number): Instruction {
  return { code: 0x20, ifTrue: 0, ifFalse: 0, value: offset }
}

function answer(value: number): Instruction {
  return { code: 0x06, ifTrue: 0, ifFalse: 0, value }
}

function when(code: number, value: number, body: readonly Instruction[]): Instruction[] {
  return [{ code, ifTrue: 0, ifFalse: body.length, value }, ...body]
}

function unless(code: number, value: number, body: readonly Instruction[]): Instruction[] {
  return [{ code, ifTrue: body.length, ifFalse: 0, value }, ...body]
}

function encode({ code, ifTrue, ifFalse, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value >>> 0, 4)
  return bytes
}
