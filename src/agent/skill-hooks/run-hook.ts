import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type InsideResolution, resolveInside, type Runtime } from '../../base/index.ts'
import { capturedText, childEnvironment, runProcess } from '../../exec/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { hookProgram } from '../../trust/index.ts'
import { shellOf } from '../hands/shell-tool.ts'
import { type HookAnswer, readHookAnswer } from './read-answer.ts'
import type { SkillHook } from './read-hooks.ts'

/** Bytes kept of what a hook prints. */
const outputLimit = 131_072

/** Where hooks run. */
export interface HookPlace {
  project: string
  skillDirectory: string
  runtime: Pick<Runtime, 'env' | 'platform'>
  environment: readonly string[]
  signal?: AbortSignal | undefined
}

/**
 * Runs a hook in the project with its payload on standard input. A command that begins with the path
 * of a file of the skill runs that file. It is not run where that leads out of the skill, or to what
 * no digest of a skill has.
 */
export async function runHook(
  hook: SkillHook,
  payload: JsonObject,
  place: HookPlace,
): Promise<HookAnswer> {
  const { project, skillDirectory, runtime } = place
  const env = childEnvironment(runtime, place.environment, {
    SKILLRAIL_SKILL_DIR: skillDirectory,
    CLAUDE_SKILL_DIR: skillDirectory,
    CLAUDE_PROJECT_DIR: project,
  })
  const command = inSkill(hook.command, skillDirectory)
  if (!command.ok) {
    const end = { kind: 'not-started', message: command.message } as const
    return readHookAnswer(hook.event, { end, stdout: '', stderr: '' })
  }
  const { end, stdout, stderr } = await runProcess({
    ...shellOf(command.line, env, runtime.platform),
    cwd: project,
    env,
    stdin: `${JSON.stringify(payload)}\n`,
    timeoutMs: hook.timeoutMs,
    outputLimit,
    signal: place.signal,
  })
  return readHookAnswer(hook.event, {
    end,
    stdout: capturedText(stdout),
    stderr: capturedText(stderr),
  })
}

type CommandInSkill = { ok: true; line: string } | Extract<InsideResolution, { ok: false }>

/** A path that is not there at all may be one of the project, where hooks run. */
function inSkill(command: string, directory: string): CommandInSkill {
  const program = directory === '' ? undefined : hookProgram(command)
  if (program === undefined) return { ok: true, line: command }
  const { path, rest } = program
  const inside = resolveInside(directory, path)
  if (inside.ok) return { ok: true, line: `'${inside.path.replaceAll("'", `'\\''`)}'${rest}` }
  const isElsewhere = inside.code === 'path-missing' && isNowhere(join(directory, path))
  return isElsewhere ? { ok: true, line: command } : inside
}

/** A link that leads nowhere is there. */
function isNowhere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}
