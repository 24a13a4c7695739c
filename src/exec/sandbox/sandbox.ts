import { createCapture, type ProcessRequest, type ProcessResult } from '#exec/process'
import type { Grants } from './grants.ts'

export interface Sandbox {
  readonly name: 'bubblewrap' | 'seatbelt'
  run(request: SandboxRequest): Promise<ProcessResult>
}

export type SupervisedRequest = Pick<
  ProcessRequest,
  'stdin' | 'timeoutMs' | 'outputLimit' | 'signal' | 'onOutput'
>

export interface SandboxRequest extends SupervisedRequest {
  /** Real path; visible inside, never writable. */
  skillDirectory: string
  state?: string | undefined
  /** An existing file: the only one outside that is writable without a grant. */
  output?: string | undefined
  grants: Grants
  command(places: Places): readonly string[]
  /** Variables besides those of every sandbox and those of the grants. */
  environment(places: Places): Readonly<Record<string, string>>
}

export interface Places {
  skill: string
  node: string
  /** The working directory: empty at first, removed afterwards. */
  work: string
  home: string
  /** Also removed afterwards: a sandbox shares no directory with other steps. */
  scratch: string
  state: string
  output: string
}

/** Whether a backend works on this machine, tested by running it. */
export type SandboxProbe =
  | { ok: true; sandbox: Sandbox; program: string; note?: string | undefined }
  | { ok: false; reason: string; hint: string }

export function notStarted(message: string): ProcessResult {
  const nothing = createCapture(0).finish()
  return { end: { kind: 'not-started', message }, stdout: nothing, stderr: nothing }
}
