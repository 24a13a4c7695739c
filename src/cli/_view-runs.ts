import { existsSync, statSync } from 'node:fs'
import { SkillrailError } from '../base/index.ts'
import { type RunJournal, readResult, statusOfRun } from '../chain/index.ts'
import type { ListedRun, StandingRun, ViewWorld } from '../view/index.ts'
import { linesAgain, openProject } from '../chain/commands/project.ts'
import { listedRun } from '../chain/commands/runs.ts'
import type { CommandContext } from './command.ts'
import { contextOf } from './legacy.ts'

type RunPart = 'runIds' | 'runRow' | 'runStamp' | 'run'

/** What the view shows of runs: what their journals say. No server of runs is asked. */
export function runWorld(given: CommandContext): Pick<ViewWorld, RunPart> {
  const context = contextOf(given)
  const { store } = openProject(context)
  const line = linesAgain(context)
  // A page asks every second, and a journal that did not change is not read again.
  const rows = new Map<string, Known<ListedRun>>()
  let last: Known<StandingRun> | undefined

  /** Without reading the journal; undefined while a process seems to hold the run. */
  const stampOf = (runId: string): string | undefined => {
    const path = store.pathOf(runId)
    if (existsSync(`${path}.lock`)) return undefined
    const stats = statSync(path, { throwIfNoEntry: false })
    return `${runId} ${stats?.size} ${stats?.mtimeMs}`
  }
  const read = (runId: string): { journal: RunJournal; status: StandingRun['status'] } => {
    const journal = store.read(runId)
    return { journal, status: statusOfRun(journal, journal.path) }
  }

  return {
    runIds: () => store.ids(),
    runRow(runId) {
      const stamp = stampOf(runId)
      const known = rows.get(runId)
      if (known !== undefined && known.stamp === stamp) return known.value
      try {
        const { journal, status } = read(runId)
        const row = listedRun(journal, status)
        if (rows.size >= mostKept) rows.clear()
        if (stamp !== undefined) rows.set(runId, { stamp, value: row })
        return row
      } catch (error) {
        if (!(error instanceof SkillrailError)) throw error
        const { code, message, hint } = error
        return { code, severity: 'error', message, path: store.pathOf(runId), hint }
      }
    },
    runStamp(runId) {
      const stamp = stampOf(runId)
      if (stamp !== undefined) return stamp
      const { journal, status } = read(runId)
      return `${runId} ${journal.length} ${status}`
    },
    async run(runId) {
      const stamp = stampOf(runId)
      if (last !== undefined && last.stamp === stamp) return last.value
      const { journal, status } = read(runId)
      const result = await readResult(journal, context.runtime)
      const standing = status === 'running' ? status : result.status
      const run = { journal, result, status: standing, line }
      if (stamp !== undefined) last = { stamp, value: run }
      return run
    },
  }
}

/** What was read when the journal had this stamp. */
interface Known<T> {
  stamp: string
  value: T
}

const mostKept = 2000
