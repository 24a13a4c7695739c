import type { Diagnostic } from '../core/diagnostic.ts'
import type { RunJournal } from '../chain/run-journal.ts'
import type { RunLine } from '../chain/run-line.ts'
import type { RunResult } from '../chain/engine.ts'
import type { Answers, ListedRun } from './answers.ts'

type Eventually<T> = T | Promise<T>

/**
 * What the view shows, asked of the project again with each question. No function changes anything,
 * starts anything or calls a tool. One that has no answer throws an error with a sentence.
 */
export interface ViewWorld {
  project(): Eventually<Answers['project']>
  skills(): Eventually<Answers['skills']>
  /** `id` as the list of skills has it. */
  skill(id: string): Eventually<Answers['skill']>
  /** The `SKILL.md` as it stands on the disk. */
  skillText(id: string): Eventually<string>
  audit(id: string): Eventually<Answers['audit']>
  match(prompt: string): Eventually<Answers['match']>
  chains(): Eventually<Answers['chains']>
  plan(id: string): Eventually<Answers['plan']>
  /** The ids of all runs, the newest first. */
  runIds(): Eventually<readonly string[]>
  /** One of the list; what is wrong with it where it cannot be read. */
  runRow(runId: string): Eventually<ListedRun | Diagnostic>
  /** Changes whenever the run does. */
  runStamp(runId: string): Eventually<string>
  run(runId: string): Eventually<StandingRun>
  tools(): Eventually<Answers['tools']>
  tool(id: string): Eventually<Answers['tool']>
  route(request: string): Eventually<Answers['route']>
  workflows(): Eventually<Answers['workflows']>
  sessions(): Eventually<Answers['sessions']>
  session(id: string): Eventually<Answers['session']>
}

/** A run as its journal has it. */
export interface StandingRun {
  journal: Pick<RunJournal, 'updatedAt' | 'done' | 'gates' | 'diagnostics'> & {
    run: Pick<RunJournal['run'], 'mode' | 'at' | 'arguments'>
  }
  result: RunResult
  /** How it stands now. */
  status: RunResult['status'] | 'running'
  /** How a user types what is shown to continue it. */
  line: RunLine
}
