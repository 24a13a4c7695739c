import { readFileSync, writeSync } from 'node:fs'
import { basename } from 'node:path'
import { systemRuntime } from '#core/runtime'
import type { RailRequest } from './request.ts'
import { answerRequest } from './work.ts'

/** The hook loads the file of this program for calls of MCP tools, so that it has no second copy of this. */
export { answerClientCall } from '#project/client-calls'

const isStarted = ['rail.cjs', 'rail-main.ts'].includes(basename(process.argv[1] ?? ''))
if (isStarted) work()

/**
 * The process that works on a rail. It reads one request from stdin and prints one answer. Its hook may be gone
 * by then.
 */
function work(): void {
  const input: { request: RailRequest; deadline: number } = JSON.parse(readFileSync(0, 'utf8'))
  const hook = process.ppid
  /** If a user pauses or repeats a step, that ends the current check. */
  const controller = new AbortController()
  process.once('SIGTERM', () => controller.abort())

  const means = {
    signal: controller.signal,
    /** Whether the hook has gone, or will have gone before it reads an answer. */
    isLate: () => Date.now() > input.deadline - 100 || process.ppid !== hook,
  }
  void answerRequest(input.request, systemRuntime(), means).then((answer) => {
    try {
      writeSync(1, JSON.stringify(answer ?? {}))
    } catch {
      // The hook is gone; the rail's state has everything.
    }
    process.exit(0)
  })
}
