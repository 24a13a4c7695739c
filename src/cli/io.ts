import type { Readable, Writable } from 'node:stream'
import { messageOf, type Runtime, UsageError } from '../base/index.ts'
import { openSink, type Sink } from './sink.ts'

/** What a command line reads and writes; tests pass their own. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean }
  readonly stdout: Sink
  readonly stderr: Sink
  /** Where questions are asked; undefined in a non-interactive shell. */
  readonly terminal: { input: Readable; output: Writable } | undefined
  /** Owned by commands that speak a protocol over stdin and stdout. */
  readonly protocolOutput: Writable
  /** Replaces parts of the real runtime, such as `env`, `cwd` and `home`. */
  readonly runtime?: Partial<Runtime>
}

/** The streams of this process. Loading Node's stream modules takes time, so it waits until they are used. */
export function processIo(): Io {
  return {
    stdout: openSink(1),
    stderr: openSink(2),
    get stdin() {
      return process.stdin
    },
    get terminal() {
      const { stdin, stderr } = process
      return stdin.isTTY && stderr.isTTY ? { input: stdin, output: stderr } : undefined
    },
    get protocolOutput() {
      return process.stdout
    },
  }
}

/** Everything on standard input as UTF-8 text. */
export async function readStandardInput({ stdin }: Pick<Io, 'stdin'>): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
  } catch (error) {
    throw new UsageError({
      code: 'standard-input',
      message: `standard input cannot be read: ${messageOf(error)}`,
    })
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * The line that the user types. Undefined in a non-interactive shell, when `withdrawn` aborts and when
 * the input ends (Ctrl-D). Rejects when `signal` ends the command.
 */
export async function ask(
  { terminal }: Pick<Io, 'terminal'>,
  question: string,
  signal: AbortSignal,
  withdrawn?: AbortSignal,
): Promise<string | undefined> {
  if (terminal === undefined) return undefined
  const { createInterface } = await import('node:readline/promises')
  const reader = createInterface(terminal)
  // While it asks, the terminal gives Ctrl-C to the reader and not to the process.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const signals = withdrawn === undefined ? [signal] : [signal, withdrawn]
    return await reader.question(question, { signal: AbortSignal.any(signals) })
  } catch (error) {
    if (signal.aborted) throw error
    terminal.output.write('\n')
    return undefined
  } finally {
    reader.close()
  }
}
