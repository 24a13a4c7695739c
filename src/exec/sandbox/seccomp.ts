/**
 * Returns the seccomp filter in the kernel's format: classic BPF, eight bytes per instruction, in the
 * byte order of both processors. A refused call returns an error. The filter kills a program for another
 * processor, because its calls have other numbers.
 */
export function seccompFilter(processor: FilteredProcessor): Buffer {
  const { number, audit } = processors[processor]
  const program: Instruction[] = [
    load(offsetOf.processor),
    [jump.equal, 1, 0, audit],
    answer(kill),
    load(offsetOf.call),
    ...(number === undefined ? [] : when(jump.atLeast, number, [answer(kill)])),
    ...when(jump.above, newestKnownCall, [answer(error(errors.notThere))]),
    ...refusedCalls().flatMap((call) => {
      const callNumber = call[processor]
      if (callNumber === undefined) return []
      const code = call.answer === 'absent' ? errors.notThere : errors.notPermitted
      return when(jump.equal, callNumber, [answer(error(code))])
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
  const bytes = Buffer.alloc(8 * program.length)
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index)
    bytes.writeUInt8(ifTrue, 8 * index + 2)
    bytes.writeUInt8(ifFalse, 8 * index + 3)
    bytes.writeUInt32LE(value >>> 0, 8 * index + 4)
  }
  return bytes
}

export function isFiltered(processor: string): processor is FilteredProcessor {
  return Object.hasOwn(processors, processor)
}

/** `linux/audit.h`: the processor of a call. Calls from `number` on have the x32 form. */
const processors = {
  x64: { audit: 0xc000003e, number: 0x40000000 },
  arm64: { audit: 0xc00000b7, number: undefined },
} as const satisfies Record<FilteredProcessor, { audit: number; number: number | undefined }>

/** A filter's answers (`linux/seccomp.h`). */
const kill = 0x80000000
const allow = 0x7fff0000
const error = (code: number) => 0x00050000 | code

const errors = { notPermitted: 1, notThere: 38, noFamily: 97 } as const

/** Every `CLONE_NEW…` that `clone` takes: mount, cgroup, host name, IPC, user, process, network. */
const newNamespaces = 0x7e020000

/** Requests that insert input into the terminal or change its line discipline: TIOCSTI, TIOCSETD, TIOCLINUX. */
const terminalRequests = [0x5412, 0x5423, 0x541c]

/**
 * IPv4 and IPv6 reach only the network namespace. Netlink is limited to routes, which C libraries query.
 * Local sockets are refused: one in a granted directory would lead outside.
 */
const families = { internet: [2, 10], netlink: 16 } as const
const routes = 0

/** Offsets in a filter's input (`struct seccomp_data`). An argument's offset is that of its lower half. */
const offsetOf = { call: 0, processor: 4 } as const
const argument = (index: number) => 16 + 8 * index

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/** Operations of classic BPF (`linux/bpf_common.h`). */
const jump = { equal: 0x15, above: 0x25, atLeast: 0x35, anyBit: 0x45 } as const
const load = (offset: number): Instruction => [0x20, 0, 0, offset]
const answer = (value: number): Instruction => [0x06, 0, 0, value]

function when(code: number, value: number, body: readonly Instruction[]): Instruction[] {
  return [[code, 0, body.length, value], ...body]
}

export type FilteredProcessor = 'x64' | 'arm64'

/** A refused system call and its error: `permission` is EPERM, `absent` ENOSYS. */
interface RefusedCall {
  name: string
  x64: number
  arm64: number | undefined
  answer: 'permission' | 'absent'
}

/**
 * System calls that no skill script needs: name, number on x64, and number on arm64 if it exists there.
 * Sources: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`.
 */
const callNumbers: readonly string[] = [
  // Namespaces, mounts and roots: the parts of the sandbox.
  `chroot 161 51
  mount 165 40
  pivot_root 155 41
  setns 308 268
  umount2 166 39
  unshare 272 97
  open_tree 428 428
  move_mount 429 429
  fsopen 430 430
  fsconfig 431 431
  fsmount 432 432
  fspick 433 433
  mount_setattr 442 442`,
  // Other processes, and files by handle instead of by path.
  `kcmp 312 272
  migrate_pages 256 238
  move_pages 279 239
  name_to_handle_at 303 264
  open_by_handle_at 304 265
  perf_event_open 298 241
  process_vm_readv 310 270
  process_vm_writev 311 271
  ptrace 101 117
  pidfd_getfd 438 438
  process_madvise 440 440`,
  // The keys of the outer session.
  `add_key 248 217
  keyctl 250 219
  request_key 249 218`,
  // Large parts of the kernel, and parts with earlier sandbox escapes.
  `bpf 321 280
  fanotify_init 300 262
  userfaultfd 323 282
  io_uring_setup 425 425
  io_uring_enter 426 426
  io_uring_register 427 427
  personality 135 92`,
  // The machine itself.
  `acct 163 89
  adjtimex 159 171
  clock_adjtime 305 266
  clock_settime 227 112
  delete_module 176 106
  finit_module 313 273
  init_module 175 105
  kexec_file_load 320 294
  kexec_load 246 104
  lookup_dcookie 212 18
  nfsservctl 180 42
  quotactl 179 60
  reboot 169 142
  setdomainname 171 162
  sethostname 170 161
  settimeofday 164 170
  swapoff 168 225
  swapon 167 224
  syslog 103 116
  vhangup 153 58
  quotactl_fd 443 443
  _sysctl 156
  create_module 174
  get_kernel_syms 177
  ioperm 173
  iopl 172
  modify_ldt 154
  query_module 178
  sysfs 139
  uselib 134
  ustat 136
  vserver 236`,
  // Memory that no process limit counts: memory files and System V objects.
  `memfd_create 319 279
  memfd_secret 447 447
  shmget 29 194
  msgget 68 186
  semget 64 190`,
  // The flags of `clone3` are behind a pointer, which no filter can read; C libraries then use `clone`.
  `clone3 435 435`,
]

/** Programs have an alternative if these calls are missing. */
const absent: ReadonlySet<string> = new Set(
  'clone3 memfd_create memfd_secret shmget msgget semget'.split(' '),
)

export function refusedCalls(): RefusedCall[] {
  const rows = callNumbers.join('\n').split('\n')
  return rows.map((row) => {
    const [name = '', x64, arm64] = row.trim().split(' ')
    return {
      name,
      x64: Number(x64),
      arm64: arm64 === undefined ? undefined : Number(arm64),
      answer: absent.has(name) ? 'absent' : 'permission',
    }
  })
}

/** The newest system call in this review, `mseal`. Later calls return ENOSYS. */
const newestKnownCall = 462

const examinedCalls = {
  clone: { x64: 56, arm64: 220 },
  ioctl: { x64: 16, arm64: 29 },
  socket: { x64: 41, arm64: 198 },
} as const satisfies Record<string, Record<FilteredProcessor, number>>
