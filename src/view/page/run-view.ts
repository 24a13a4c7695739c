import type { RunAnswer } from '../answers/run.ts'
import { type Child, fill, make } from './elements.ts'
import { errorList } from './error-list.ts'
import { chip, clock, findings, section, typed } from './parts.ts'
import { ask } from './server.ts'
import { stepTree, type StepTree } from './step-tree.ts'

export interface RunView {
  element: HTMLElement
  /** Asks again, and draws what has changed. */
  refresh(): Promise<void>
}

type Run = Exclude<RunAnswer, { unchanged: true }>

/** One run: how it stands, what a person may type, and its steps. */
export async function openRun(id: string): Promise<RunView> {
  const first = await ask('run', { id })
  if (first.unchanged === true) throw new Error('the run was not sent')
  let run: Run = first
  const head = make('div')
  const place = make('div')
  const trees = new Map<number, StepTree>()
  let headings = ''
  draw()
  // What failed first is what somebody looks for.
  if (first.failedFirst !== undefined) last()?.open(first.failedFirst)
  return {
    element: make('div', {}, head, place),
    async refresh() {
      const answer = await ask('run', { id, known: run.stamp })
      if (answer.unchanged === true) {
        for (const tree of trees.values()) tree.tick()
        return
      }
      run = answer
      draw()
    },
  }

  function draw(): void {
    fill(head, header(run, reveal))
    const several = run.attempts.length > 1
    for (const { attempt, steps, status } of run.attempts) {
      const tree = trees.get(attempt) ?? stepTree(run.runId, attempt)
      trees.set(attempt, tree)
      tree.update(steps, status === 'running')
    }
    const now = JSON.stringify(run.attempts.map((attempt) => ({ ...attempt, steps: undefined })))
    if (now === headings) return
    headings = now
    // The last one decides.
    const sections = run.attempts.toReversed().map((shown) => {
      const { attempt, status } = shown
      const title = several ? `Attempt ${attempt}: ${status}` : 'Steps'
      return section(title, errorList(shown), trees.get(attempt)?.element)
    })
    fill(place, sections)
  }

  /** The attempt that decides. */
  function last(): StepTree | undefined {
    return trees.get(run.attempts.at(-1)?.attempt ?? 1)
  }

  function reveal(step: string): void {
    last()?.open(step)?.scrollIntoView({ block: 'center' })
  }
}

function header(run: Run, reveal: (step: string) => void): Child {
  const { runId, skill, status, startedAt, updatedAt, winner, failedFirst, next } = run
  const given = run.arguments.join(' ')
  return [
    make('h1', {}, skill, ' ', chip(status)),
    make(
      'p',
      { class: 'lead' },
      'Run ',
      make('code', {}, runId),
      ', begun ',
      clock(startedAt),
      ', last change ',
      clock(updatedAt),
      run.mode === 'stepper' ? ', carried out by an agent step by step' : '',
    ),
    given === '' ? undefined : make('p', {}, 'Arguments: ', make('code', {}, given)),
    winner === undefined ? undefined : make('p', {}, 'Won by ', make('strong', {}, winner)),
    failedFirst === undefined
      ? undefined
      : make(
          'p',
          { class: 'note bad' },
          'Failed first: ',
          make(
            'button',
            { type: 'button', class: 'link', onClick: () => reveal(failedFirst) },
            failedFirst,
          ),
        ),
    status === 'waiting' && run.mode === 'run'
      ? make(
          'p',
          { class: 'note' },
          'A person decides, at a terminal. This page cannot, and neither can a model.',
        )
      : undefined,
    next.map(({ what, line }) => typed(line, what)),
    findings(run.diagnostics),
  ]
}
