/** Processors that there is a filter for. */
export type FilteredProcessor = 'x64' | 'arm64'

/** What a refused system call answers: `permission` is EPERM, `absent` ENOSYS. */
export interface RefusedCall {
  name: string
  x64?: number | undefined
  arm64?: number | undefined
  answer: 'permission' | 'absent'
}

/**
 * System calls that no script of a skill needs. Numbers are those of the kernel's tables
 * (`arch/x86/entry/syscalls/syscall_64.tbl`, `include/uapi/asm-generic/unistd.h`).
 */
export const refusedCalls: readonly RefusedCall[] = [
  // Namespaces, mounts, roots: what the sandbox is made of.
  ...both('permission', {
    chroot: [161, 51],
    mount: [165, 40],
    pivot_root: [155, 41],
    setns: [308, 268],
    umount2: [166, 39],
    unshare: [272, 97],
  }),
  ...same('permission', {
    open_tree: 428,
    move_mount: 429,
    fsopen: 430,
    fsconfig: 431,
    fsmount: 432,
    fspick: 433,
    mount_setattr: 442,
  }),
  // Other processes, and files by handle instead of by path.
  ...both('permission', {
    kcmp: [312, 272],
    migrate_pages: [256, 238],
    move_pages: [279, 239],
    name_to_handle_at: [303, 264],
    open_by_handle_at: [304, 265],
    perf_event_open: [298, 241],
    process_vm_readv: [310, 270],
    process_vm_writev: [311, 271],
    ptrace: [101, 117],
  }),
  ...same('permission', { pidfd_getfd: 438, process_madvise: 440 }),
  // Keys of the session outside.
  ...both('permission', {
    add_key: [248, 217],
    keyctl: [250, 219],
    request_key: [249, 218],
  }),
  // Parts of the kernel that are large, or were the way out before.
  ...both('permission', { bpf: [321, 280], fanotify_init: [300, 262], userfaultfd: [323, 282] }),
  ...same('permission', { io_uring_setup: 425, io_uring_enter: 426, io_uring_register: 427 }),
  ...both('permission', { personality: [135, 92] }),
  // The machine itself.
  ...both('permission', {
    acct: [163, 89],
    adjtimex: [159, 171],
    clock_adjtime: [305, 266],
    clock_settime: [227, 112],
    delete_module: [176, 106],
    finit_module: [313, 273],
    init_module: [175, 105],
    kexec_file_load: [320, 294],
    kexec_load: [246, 104],
    lookup_dcookie: [212, 18],
    nfsservctl: [180, 42],
    quotactl: [179, 60],
    reboot: [169, 142],
    setdomainname: [171, 162],
    sethostname: [170, 161],
    settimeofday: [164, 170],
    swapoff: [168, 225],
    swapon: [167, 224],
    syslog: [103, 116],
    vhangup: [153, 58],
  }),
  ...same('permission', { quotactl_fd: 443 }),
  ...onX64('permission', {
    _sysctl: 156,
    create_module: 174,
    get_kernel_syms: 177,
    ioperm: 173,
    iopl: 172,
    modify_ldt: 154,
    query_module: 178,
    sysfs: 139,
    uselib: 134,
    ustat: 136,
    vserver: 236,
  }),
  // Its flags are behind a pointer, where no filter sees them; C libraries then use `clone`.
  ...same('absent', { clone3: 435 }),
]

/** The newest system call that was judged, `mseal`; what came later answers that it is not there. */
export const newestKnownCall = 462

/** Calls that are looked into. */
export const examinedCalls = {
  clone: { x64: 56, arm64: 220 },
  ioctl: { x64: 16, arm64: 29 },
  socket: { x64: 41, arm64: 198 },
} as const satisfies Record<string, Record<FilteredProcessor, number>>

type Answer = RefusedCall['answer']

function both(answer: Answer, calls: Record<string, readonly [number, number]>): RefusedCall[] {
  return Object.entries(calls).map(([name, [x64, arm64]]) => ({ name, x64, arm64, answer }))
}

/** Since 2018 both processors number new calls alike. */
function same(answer: Answer, calls: Record<string, number>): RefusedCall[] {
  return Object.entries(calls).map(([name, number]) => {
    return { name, x64: number, arm64: number, answer }
  })
}

function onX64(answer: Answer, calls: Record<string, number>): RefusedCall[] {
  return Object.entries(calls).map(([name, x64]) => ({ name, x64, answer }))
}
