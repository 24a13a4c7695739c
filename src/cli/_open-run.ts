import {
  type Plan,
  planChanged,
  RunBusyError,
  type RunJournal,
  type RunLine,
  RunStateError,
} from '../chain/index.ts'
import { type ChainProject, planKept, usablePlan } from './_chain-project.ts'
import { linesAgain } from './_lines-again.ts'
import { upToDate } from './_engine.ts'

/**
 * The journal of a run, with what its server did meanwhile; what is wrong with it, such as a torn last
 * line, is said on standard error.
 *
 * @throws {RunBusyError | RunStateError} where its server has not finished it, or does not answer.
 */
export async function openRun(project: ChainProject, runId: string): Promise<RunJournal> {
  const { journal, standing } = await upToDate(project, runId)
  project.context.output.diagnostics(journal.diagnostics)
  const { url = '' } = journal.run.server ?? {}
  if (standing === 'running') {
    throw new RunBusyError({
      code: 'run-busy',
      message: `the run ${runId} is being executed by the server at ${url}`,
      hint: `Wait for it, or end it: ${linesAgain(project.context)('runs cancel', runId)}`,
    })
  }
  if (standing === 'unreachable') {
    throw new RunStateError({
      code: 'restate-away',
      message: `the server at ${url}, which is to execute the run ${runId}, does not answer`,
      hint: 'Start it, or wait until it can be reached: it keeps what it has done.',
    })
  }
  return journal
}

/**
 * The plan of a run as it is now, to go on with. Before anybody is asked anything or a sandbox is
 * looked for, it is refused where it is another one.
 */
export function planToGoOn(
  project: ChainProject,
  journal: RunJournal,
  {
    command,
    line,
    force,
  }: { command: 'resume' | 'approve'; line: RunLine; force?: boolean | undefined },
): Plan {
  const { run, status } = journal
  const plan = usablePlan(planKept(project, run))
  // Of a run that has ended that is said instead.
  const isOpen = status !== 'failure' && status !== 'critical'
  const change = isOpen ? planChanged(journal, plan, command, line) : undefined
  if (change !== undefined && force !== true) throw change
  return plan
}
