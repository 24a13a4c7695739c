import { capturedText, type ProcessEnd, runProcess } from '../exec/index.ts'
import type { Runtime } from '../base/index.ts'
import { launcherPath } from './launcher-place.ts'
import type { Platform } from './platform.ts'

/** What happened when the installed hook was called as a client calls it. */
export interface ProbeResult {
  ok: boolean
  durationMs: number
  /** What was wrong, as a sentence; undefined where nothing was. */
  problem?: string | undefined
}

/** A prompt that no trigger is written for, so that nothing is logged and nothing injected. */
const quietPrompt = 'skillrail probe of the hook'

/** Calls the launcher with a prompt as the client would, and looks at what comes back. */
export async function probeHook(runtime: Runtime, platform: Platform): Promise<ProbeResult> {
  const input = JSON.stringify({
    session_id: 'skillrail-probe',
    cwd: runtime.cwd,
    hook_event_name: 'UserPromptSubmit',
    prompt: quietPrompt,
  })
  const started = runtime.elapsed()
  const { end, stderr } = await runProcess({
    file: launcherPath(runtime),
    args: [platform],
    cwd: runtime.cwd,
    env: childEnvironment(runtime),
    stdin: input,
    timeoutMs: 15_000,
    outputLimit: 65_536,
  })
  const durationMs = Math.round(runtime.elapsed() - started)
  const problem = problemOf(end, capturedText(stderr).trim())
  return { ok: problem === undefined, durationMs, problem }
}

function problemOf(end: ProcessEnd, said: string): string | undefined {
  if (end.kind === 'not-started') return `it could not be started: ${end.message}`
  if (end.kind === 'timeout') return 'it did not end in time'
  if (end.kind !== 'exit') return 'it was ended by a signal'
  if (end.code !== 0) return `it ended with ${end.code}: ${said}`
  return said === '' ? undefined : said
}

/** As a client would pass it on; a probe inside one of our runs is no child of that run. */
function childEnvironment({ env }: Runtime): Record<string, string> {
  const entries = Object.entries(env).filter(([name]) => name !== 'SKILLRAIL_RUN_ID')
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
