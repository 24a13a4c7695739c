import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Server } from '../../dev/restate.mjs'
import type { RunResult, StepResult } from '../../src/chain/engine.ts'
import { makeProject, type ProjectSkill, type TestProject } from '../chain/_project.ts'
import { onServer, ownServer, startWorkerOf, type WorkerProcess } from './_fleet.ts'

export const engines = ['journal', 'restate'] as const

export type Answer = RunResult & { code: number | null }

/** A project and what its runs are executed by, for the tests of one `describe`. */
export interface EngineFixture {
  project: TestProject
  /** Options that choose the engine. */
  chosen: readonly string[]
  write(skills: Record<string, ProjectSkill>): void
  run(skill: string, ...more: string[]): Promise<Answer>
}

export function useEngine(engine: (typeof engines)[number]): EngineFixture {
  const project = makeProject()
  const chosen: string[] = []
  let server: Server | undefined
  let worker: WorkerProcess | undefined

  beforeAll(async () => {
    if (engine === 'journal') return
    server = await ownServer()
    worker = await startWorkerOf(project, { server })
    chosen.push(...onServer(server))
  })
  afterAll(async () => {
    worker?.kill('SIGTERM')
    await worker?.ended
    await server?.stop()
    server?.cleanUp()
    project.remove()
  })
  return {
    project,
    chosen,
    write(skills) {
      for (const [name, content] of Object.entries(skills)) project.write(name, content)
    },
    run: async (skill, ...more) =>
      answerOf(await project.cli(['run', skill, '--json', ...chosen, ...more])),
  }
}

export function answerOf({ code, stdout }: { code: number | null; stdout: string }): Answer {
  return { ...JSON.parse(stdout === '' ? '{}' : stdout), code }
}

export function steps(result: RunResult): readonly StepResult[] {
  return result.attempts.at(-1)?.steps ?? []
}

/** A file of the project once it is there and not empty. */
export function contentOf(project: TestProject, file: string): string | undefined {
  try {
    return readFileSync(join(project.directory, file), 'utf8').trim() || undefined
  } catch {
    return undefined
  }
}

/** A script that says a word, and leaves a line in the file `log`. */
export function say(text: string): string {
  return `echo ${text} >> log; echo ${text}`
}
