import { Readable, Writable } from 'node:stream'
import type { Runtime } from '../src/core/runtime.ts'
import type { Io } from '../src/cli/terminal.ts'
import { main } from '../src/cli/main.ts'

export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
}

export interface CliOptions {
  cwd: string
  /** The user's home; everything a command keeps for a user goes below it. */
  home: string
  stdin?: string | undefined
  /** Besides `PATH` and `HOME`. */
  env?: Record<string, string | undefined> | undefined
  /** Replaces the clock or the ids of the real runtime. */
  runtime?: Partial<Runtime> | undefined
}

/**
 * Runs a command line in this process, with nothing of this machine's environment but `PATH`. Commands
 * run one after the other, because the working directory belongs to the whole process. What is about
 * signals, terminals or commands at the same time needs processes: `runCli` in `cli/run-cli.ts`.
 */
export async function runInProcess(
  args: readonly string[],
  options: CliOptions,
): Promise<CliResult> {
  const mine = queue.then(() => runNow(args, options))
  queue = mine.catch(() => undefined)
  return await mine
}

let queue: Promise<unknown> = Promise.resolve()

async function runNow(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const { cwd, home, stdin = '', env, runtime } = options
  const written = { stdout: '', stderr: '' }
  const sink = (stream: 'stdout' | 'stderr'): Io['stdout'] => ({
    isTerminal: false,
    columns: undefined,
    write: (text) => void (written[stream] += text),
  })
  const before = process.cwd()
  process.chdir(cwd)
  try {
    const code = await main(args, {
      stdin: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]),
      stdout: sink('stdout'),
      stderr: sink('stderr'),
      terminal: undefined,
      protocolOutput: new Writable({
        write(chunk: Buffer, _encoding, done) {
          written.stdout += chunk.toString()
          done()
        },
      }),
      runtime: {
        ...runtime,
        cwd: process.cwd(),
        home,
        env: { PATH: process.env['PATH'], HOME: home, ...env },
      },
    })
    return { code, ...written }
  } finally {
    process.chdir(before)
  }
}
