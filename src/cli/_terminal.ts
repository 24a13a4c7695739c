import { messageOf, UsageError } from '../base/index.ts'

/** Everything on standard input as UTF-8 text. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  } catch (error) {
    throw new UsageError({
      code: 'standard-input',
      message: `standard input cannot be read: ${messageOf(error)}`,
    })
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * The answer of the person at the terminal. Undefined where nobody can be asked, where the question
 * was withdrawn, and where the person ends the input (Ctrl-D) instead of answering. Rejects when
 * `signal` ends the command.
 */
export async function ask(
  question: string,
  signal: AbortSignal,
  withdrawn?: AbortSignal,
): Promise<string | undefined> {
  if (!canAsk()) return undefined
  const { createInterface } = await import('node:readline/promises')
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  // While it asks, the terminal gives Ctrl-C to the reader and not to the process.
  reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const signals = withdrawn === undefined ? [signal] : [signal, withdrawn]
    return await reader.question(question, { signal: AbortSignal.any(signals) })
  } catch (error) {
    if (signal.aborted) throw error
    process.stderr.write('\n')
    return undefined
  } finally {
    reader.close()
  }
}

/** Whether there is a person at a terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}
