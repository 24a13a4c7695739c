import { createCapture, type ProcessRequest, type ProcessResult } from '#exec/process'
import type { Grants } from './grants.ts'

export interface Sandbox {
  readonly name: 'bubblewrap' | 'seatbelt'
  run(request: SandboxRequest): Promise<ProcessResult>
}

export type Supervised = Pick<
  ProcessRequest,
  'stdin' | 'timeoutMs' | 'outputLimit' | 'signal' | 'onOutput'
>

export interface SandboxRequest extends Supervised {
  /** Real path; seen inside, and never writable. */
  skillDirectory: string
  state?: string | undefined
  /** A file that is there, and the only one outside that can be written without a grant. */
  output?: string | undefined
  grants: Grants
  command(places: Places): readonly string[]
  /** Variables besides those that every sandbox sets and those that were granted. */
  environment(places: Places): Readonly<Record<string, string>>
}

export interface Places {
  skill: string
  node: string
  /** The working directory: empty, gone afterwards. */
  work: string
  home: string
  /** Gone afterwards too: a sandbox shares no directory with other steps. */
  scratch: string
  state: string
  output: string
}

/** Whether a backend works on this machine, found out by running it. */
export type SandboxProbe =
  | { ok: true; sandbox: Sandbox; program: string; note?: string | undefined }
  | { ok: false; reason: string; hint: string }

export function notStarted(message: string): ProcessResult {
  const nothing = createCapture(0).finish()
  return { end: { kind: 'not-started', message }, stdout: nothing, stderr: nothing }
}
