import type { AttemptResult } from './attempt.ts'
import type { Outside } from './_outside.ts'

/** One way to get out or to do harm, tried by a program of `test/fixtures/programs/sandbox`. */
export interface Attempt {
  script: string
  /** The attempt can also run without a sandbox, where it succeeds. */
  harmless?: true | undefined
  /** For the table in the documentation. */
  tries: string
  heldBy: string
  arguments?: ((outside: Outside) => readonly string[]) | undefined
  /** How the script ends if its end is the protection; default: by itself, with exit code 0. */
  ends?: RegExp | undefined
  timeoutMs?: number | undefined
  grants?: ((outside: Outside) => { read?: string[]; write?: string[] }) | undefined
}

export const attempts: readonly Attempt[] = [
  {
    script: 'remount.sh',
    tries: 'remount `/`, `/usr`, `/proc` or the skill writable; mount something; write there',
    heldBy: 'no capability, the filter, read-only mounts',
  },
  {
    script: 'ptrace.pl',
    tries: 'attach to, read from and take descriptors of the first process and the parent',
    heldBy: 'the filter, the namespace of processes',
  },
  {
    script: 'proc-root.sh',
    harmless: true,
    tries: 'read a file outside by `/proc/*/root`, `/proc/*/cwd` and its path',
    heldBy: 'the namespaces of processes and mounts',
    arguments: (outside) => [outside.secretFile],
  },
  {
    script: 'loopback.mjs',
    harmless: true,
    tries: 'connect to a server on the loopback of this machine, see its interfaces',
    heldBy: 'a network namespace of its own',
    arguments: (outside) => [String(outside.port)],
  },
  {
    script: 'local-socket.pl',
    harmless: true,
    tries: 'connect to an abstract socket, and to one in a directory that was granted',
    heldBy: 'a network namespace of its own, the filter (no local sockets)',
    arguments: (outside) => [outside.abstractName, outside.socketFile],
    grants: (outside) => ({ read: [outside.granted] }),
  },
  {
    script: 'links.sh',
    tries:
      'read and write outside by a link in the skill, by `..`, by a link in place of the output, by hard links; open the input for writing',
    heldBy: 'the namespace of mounts, the output as a mount of its own, input by a pipe',
    arguments: (outside) => [outside.secretFile],
  },
  {
    script: 'skill-by-grant.sh',
    tries: 'change its own skill through a write grant of the directory around it',
    heldBy: 'the skill lies read-only over every grant (the command line refuses such a grant)',
    arguments: (outside) => [outside.granted],
    grants: (outside) => ({ write: [outside.granted] }),
  },
  {
    script: 'environment.sh',
    harmless: true,
    tries: 'find a secret of the caller’s environment, its own or that of any process',
    heldBy: 'a clean environment, the namespace of processes',
    arguments: ({ secret }) => [secret.slice(0, 9), secret.slice(9)],
  },
  {
    script: 'descriptors.pl',
    harmless: true,
    tries: 'use a directory that the caller’s caller left open',
    heldBy: 'every inherited descriptor is replaced by `/dev/null`',
  },
  {
    script: 'signals.pl',
    tries: 'signal processes outside, by number, group and all at once',
    heldBy: 'the namespace of processes',
    arguments: (outside) => outside.processes.map(String),
  },
  {
    script: 'setuid.sh',
    tries: 'become another user by setuid programs, its own or the machine’s',
    heldBy: 'no new privileges, one user in the namespace, no capability',
  },
  {
    script: 'namespaces.pl',
    tries: 'make or enter namespaces: `unshare`, `clone`, `clone3`, `setns`, `bwrap`',
    heldBy: 'the filter, no further namespace of users',
    arguments: () => [process.arch],
  },
  {
    script: 'kernel.sh',
    tries: 'write `core_pattern` and its like, read memory, disks and logs, make a device',
    heldBy: '`/proc` read-only, no `/sys`, a `/dev` of its own, no capability',
  },
  {
    script: 'calls.pl',
    tries: 'fourteen system calls that were a way out somewhere, and one that is not known yet',
    heldBy: 'the filter: EPERM, and ENOSYS',
    arguments: () => [process.arch],
  },
  {
    script: 'terminal.pl',
    tries: 'type for the person at the terminal (TIOCSTI, TIOCLINUX)',
    heldBy: 'a session of its own, the filter',
  },
  {
    script: 'fork-bomb.pl',
    tries: 'make processes without end',
    heldBy: 'at most 256 tasks; the sandbox is ended beyond',
    ends: /^(?:exit|limit)$/,
    timeoutMs: 20_000,
  },
  {
    script: 'thread-bomb.mjs',
    tries: 'make 400 threads of Node',
    heldBy: 'at most 256 tasks and 2 GiB',
    ends: /^(?:exit|limit|signal)$/,
    timeoutMs: 30_000,
  },
  {
    script: 'memory.pl',
    arguments: () => ['3000000000'],
    tries: 'take 3 GB in one process',
    heldBy: 'at most 2 GiB a process',
    ends: /^(?:exit|signal|limit)$/,
  },
  {
    script: 'memory-of-many.pl',
    tries: 'take 3.6 GB in six processes',
    heldBy: 'at most 2 GiB for all of them; the sandbox is ended beyond',
    ends: /^limit$/,
    timeoutMs: 60_000,
  },
  {
    script: 'memory-kinds.pl',
    tries: 'take memory by `memfd_create` and System V, which no limit of a process counts',
    heldBy: 'the filter: ENOSYS',
    arguments: () => [process.arch],
  },
  {
    script: 'many-files.pl',
    tries: 'make two million empty files in `/tmp`',
    heldBy: 'at most 50,000 files; the sandbox is ended beyond',
    ends: /^limit$/,
    timeoutMs: 60_000,
  },
  {
    script: 'output.sh',
    tries: 'print 1 GB',
    heldBy: 'at most 64 MiB; the sandbox is ended beyond',
    ends: /^limit$/,
    timeoutMs: 60_000,
  },
  {
    script: 'disk.sh',
    tries: 'write 1 GB to `/tmp`, `/dev/shm`, `/` and the output file',
    heldBy: 'a `/tmp` of 256 MiB, files of 128 MiB, everything else read-only',
    timeoutMs: 60_000,
  },
  {
    script: 'timeout.pl',
    tries: 'outlive a time-out: signals ignored, own sessions, forked away twice',
    heldBy: 'the whole namespace of processes ends with its first one',
    arguments: (outside) => [outside.marker],
    ends: /^timeout$/,
    timeoutMs: 1500,
  },
  {
    script: 'background.pl',
    tries: 'end at once and leave a process behind',
    heldBy: 'the same',
    arguments: (outside) => [outside.marker],
  },
]

/** What got out: lines that the program printed, and what can be seen from outside. */
export function escapes(result: AttemptResult, outside: Outside): string[] {
  const printed = `${result.stdout}\n${result.stderr}`
  return [
    ...printed.split('\n').filter((line) => line.includes('ESCAPED')),
    ...(printed.includes(outside.secret) ? ['the secret was printed'] : []),
    ...outside.changes(),
  ]
}
