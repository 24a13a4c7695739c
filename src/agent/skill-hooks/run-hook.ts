import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isInside, type Runtime } from '../../base/index.ts'
import { capturedText, childEnvironment, runProcess } from '../../exec/index.ts'
import type { JsonObject } from '../../tools/index.ts'
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
 * Runs a hook in the project with its payload on standard input. A command that begins with a
 * relative path of a file of the skill runs that file.
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
  const { end, stdout, stderr } = await runProcess({
    ...shellOf(command, env, runtime.platform),
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

function inSkill(command: string, directory: string): string {
  const first = /^[\w./-]+/.exec(command.trimStart())?.[0] ?? ''
  if (directory === '' || !first.includes('/') || isAbsolute(first)) return command
  const path = join(directory, first)
  if (!isInside(directory, path) || !existsSync(path)) return command
  return `'${path.replaceAll("'", `'\\''`)}'${command.trimStart().slice(first.length)}`
}
