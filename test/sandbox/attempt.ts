// Runs one program in the sandbox, as whoever started this, and prints how it went as JSON.
import { findScript } from '../../src/exec/find-script.ts'
import { openSandbox } from '../../src/exec/sandbox/open-sandbox.ts'
import { runScript } from '../../src/exec/script.ts'
import type { Grants } from '../../src/exec/sandbox/grants.ts'

export interface AttemptRequest {
  skillDirectory: string
  script: string
  arguments: readonly string[]
  /** Beginning of the paths of its files. */
  files: string
  timeoutMs: number
  /** Undefined: without a sandbox, to see that the program would get out. */
  grants: Grants | undefined
}

export interface AttemptResult {
  end: { kind: string; message?: string; code?: number }
  output: { status: string; result: string; errors: readonly { code: string; message: string }[] }
  stdout: string
  stderr: string
}

const request: AttemptRequest = JSON.parse(process.argv[2] ?? '')
const probe = await openSandbox()
if (!probe.ok) throw new Error(`${probe.reason}. ${probe.hint}`)
const search = findScript(request.skillDirectory, `scripts/${request.script}`)
if (search.kind !== 'found') throw new Error(`there is no ${request.script}`)
const result = await runScript({
  script: search.script,
  skillDirectory: request.skillDirectory,
  cwd: '/',
  arguments: request.arguments,
  input: '{"chain_state":{}}',
  runId: 'run',
  step: 'step',
  attempt: 1,
  idempotencyKey: `run/${process.pid}`,
  scratch: `${request.files}.scratch`,
  files: request.files,
  environment: { PATH: process.env['PATH'] ?? '', SECRET: process.env['SECRET'] ?? '' },
  outputLimit: 65_536,
  timeoutMs: request.timeoutMs,
  confinement:
    request.grants === undefined ? undefined : { sandbox: probe.sandbox, grants: request.grants },
})
console.log(JSON.stringify(result))
