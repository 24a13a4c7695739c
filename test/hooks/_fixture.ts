import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts'
import type { Platform } from '../../src/hooks/adapters.ts'
import type { HookAnswer } from '../../src/hooks/hook-call.ts'
import { runHook } from '../../src/hooks/run-hook.ts'
import { workflowHook } from '../../src/project/workflow-hook.ts'

export interface Fixture {
  home: string
  project: string
  runtime: Runtime
  /** Writes a file below the home. */
  write(path: string, text: string): string
  /** Writes a skill below `place` (default `.agents/skills` of the home), with triggers `[match, inject]`. */
  skill(name: string, triggers: readonly (readonly [string, string])[], place?: string): string
  /** Asks the hook as a client would. */
  ask(platform: Platform, prompt: string, more?: Asking): Promise<HookAnswer>
}

export interface Asking {
  payload?: Readonly<Record<string, unknown>> | undefined
  env?: Readonly<Record<string, string>> | undefined
  part?: { number: number; of: number } | undefined
  input?: string | undefined
  event?: string | undefined
  slowness?: number | undefined
  /** Milliseconds by which the clock is ahead of the other calls. */
  later?: number | undefined
}

/** A home of its own with an empty project in it; the clock is ahead, so that indexes settle. */
export function makeFixture(): Fixture {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'agent-home-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const project = join(home, 'project')
  mkdirSync(join(project, '.git'), { recursive: true })
  const env = { HOME: home }
  const now = (): number => Date.now() + 10_000
  const runtime = systemRuntime({ cwd: project, env, now })
  const write = (path: string, text: string): string => {
    const file = join(home, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  return {
    home,
    project,
    runtime,
    write,
    skill(name, triggers, place = '.agents/skills') {
      const list = triggers.map(
        ([match, inject]) => `  - match: '${match}'\n    inject: ${inject}\n`,
      )
      const head = `---\nname: ${name}\ndescription: For tests.\ntriggers:\n${list.join('')}---\n`
      return write(`${place}/${name}/SKILL.md`, `${head}\n# ${name}\n`)
    },
    ask(platform, prompt, asking = {}) {
      const { payload, env: more, part = { number: 1, of: 1 }, input, event } = asking
      const { slowness = 1, later = 0 } = asking
      const sent = { session_id: 's', cwd: project, prompt, ...payload }
      return runHook({
        platform,
        part,
        event,
        input: input ?? JSON.stringify(sent),
        workflows: workflowHook,
        slowness,
        runtime: systemRuntime({ cwd: home, env: { ...env, ...more }, now: () => now() + later }),
      })
    },
  }
}

/** The context in the answer of a client of Claude's family. */
export function contextIn({ stdout }: HookAnswer): string {
  const { hookSpecificOutput } = JSON.parse(stdout)
  return String(hookSpecificOutput.additionalContext)
}
