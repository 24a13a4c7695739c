import { createCapture } from '../capture.ts'
import type { ProcessResult } from '../process.ts'

/** The result of a program that was not started. */
export function notStarted(message: string): ProcessResult {
  const nothing = createCapture(0).finish()
  return { end: { kind: 'not-started', message }, stdout: nothing, stderr: nothing }
}
