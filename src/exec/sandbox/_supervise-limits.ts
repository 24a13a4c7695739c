import type { ProcessRequest, ProcessResult } from '../process.ts'
import type { SandboxRequest } from './model.ts'

/** The parts of a request that a backend passes on to the process. */
type Supervised = Pick<
  ProcessRequest,
  'stdin' | 'timeoutMs' | 'outputLimit' | 'signal' | 'onOutput'
>

/**
 * Runs something that may be stopped because it exceeds a limit: the output that it prints is
 * counted here, everything else by the backend, which calls `stop` with what was too much.
 */
export async function superviseLimits(
  request: SandboxRequest,
  run: (supervised: Supervised, stop: (message: string) => void) => Promise<ProcessResult>,
): Promise<ProcessResult> {
  const { stdin, timeoutMs, outputLimit, signal, onOutput, limits } = request
  const controller = new AbortController()
  let exceeded: string | undefined
  let printed = 0
  const stop = (message: string): void => {
    exceeded ??= message
    controller.abort()
  }
  const supervised: Supervised = {
    stdin,
    timeoutMs,
    outputLimit,
    signal: signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
    onOutput(chunk, stream) {
      printed += chunk.length
      if (printed > limits.printedBytes) {
        stop(`it printed more than ${limits.printedBytes / 1024 ** 2} MiB`)
      }
      onOutput?.(chunk, stream)
    },
  }
  const result = await run(supervised, stop)
  const ended = result.end.kind === 'aborted' && signal?.aborted !== true
  return ended && exceeded !== undefined
    ? { ...result, end: { kind: 'limit', message: exceeded } }
    : result
}
