import { runLine } from '../../src/chain/run-line.ts'
import type { RunResult, StepResult } from '../../src/chain/engine.ts'
import type { Plan, PlannedStep } from '../../src/chain/plan-model.ts'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import type { ProjectView } from '../../src/view/project-view.ts'
import type { ShownGate } from '../../src/project/view-approvals.ts'
import { type QuestionFields, textPiece } from '../../src/view/questions.ts'
import { runAnswer, type RunShownNow, stepPiece } from '../../src/view/run-answer.ts'

const finding = (text: string) => ({
  code: text,
  severity: 'warning' as const,
  message: text,
  path: text,
  hint: text,
})

/** What a test puts in the place of an answer: what the page reads of it. */
export type Stub = { [Name in keyof ProjectView]: (asked: QuestionFields) => unknown }

/** A project in which one text stands wherever a skill, a tool or a model decides what a text is. */
export function projectSaying(text: string, more: Partial<Stub> = {}): ProjectView {
  const tokens = { metadata: 1, body: 2 }
  const diagnostics = [finding(text)]
  const trigger = { match: text, inject: text, line: 3 }
  const node = {
    step: text,
    label: text,
    skill: text,
    path: text,
    trust: text,
    digest: text,
    tokens: 1,
    by: text,
    words: [text],
  }
  const stub: Stub = {
    project: () => ({ project: text, version: text }),
    overview: () => ({
      workspace: text,
      parts: ['skills', 'clients', 'runs', 'servers'].map((name) => ({
        name,
        total: 1,
        summary: text,
        entries: [
          { name: text, status: 'problem', state: text, about: text, fix: text, place: ['skills'] },
        ],
      })),
    }),
    skills: () => ({
      skills: [
        {
          id: 'one',
          name: text,
          description: text,
          path: text,
          scope: text,
          trust: text,
          tokens,
          clients: [text],
          shadows: [text],
          standing: 'used',
          diagnostics,
        },
      ],
      diagnostics,
    }),
    skill: () => ({
      id: 'one',
      name: text,
      description: text,
      path: text,
      trust: text,
      trustReason: text,
      tokens,
      facts: [[text, text]],
      clients: [text],
      acting: [{ kind: text, what: text }],
      directory: text,
      fields: { triggers: [trigger], chain: text },
      shadows: [text],
      diagnostics,
    }),
    'skill-text': ({ number }) => textPiece(text, number('from')),
    match: (asked) => ({
      prompt: asked.text('prompt'),
      matches: [{ skill: text, ...trigger, text, promptLine: 1, tokens: 1 }],
      injected: [{ skill: text, path: text, tokens: 1 }],
      deferred: [{ skill: text, path: text, reason: text }],
      explanation: [
        {
          skill: text,
          verdicts: [
            { trigger, outcome: 'fired', text, promptLine: 1, tokens: 1 },
            { trigger, outcome: 'near-miss', miss: { reason: text } },
            { trigger, outcome: 'invalid', reason: text },
          ],
        },
      ],
      triggers: 4,
      quiet: 1,
      untried: 1,
      diagnostics,
    }),
    triggers: () => ({
      triggers: [{ skill: text, id: 'one', on: text, kind: text, inject: text }],
      log: [
        {
          at: text,
          platform: text,
          cwd: text,
          prompt: text,
          injected: [{ skill: text, path: text, characters: 1 }],
          withheld: [{ skill: text, path: text, reason: text }],
          durationMs: 1,
          error: text,
        },
      ],
      path: text,
      diagnostics,
    }),
    chains: () => ({
      chains: [{ id: 'one', name: text, description: text, steps: 1, trust: text }],
    }),
    plan: () => ({
      skill: text,
      digest: text,
      policy: [[text, text]],
      graph: [[{ ...node, inner: [[node, { ...node, step: `${text} 2` }]] }]],
      diagnostics,
    }),
    runs: () => ({
      runs: [
        {
          runId: '0run',
          skill: text,
          status: text,
          arguments: [text],
          finishedSteps: 1,
          failedSteps: 0,
          startedAt: '2026-01-01T00:00:00.000Z',
          updatedAt: text,
        },
      ],
      total: 1,
      diagnostics,
    }),
    ...runSaying(standing(resultOf([text]), { gates: [gateSaying(text)], onOtherFiles: [text] })),
    decide: () => ({ approved: true }),
    tools: () => ({
      state: 'stale',
      message: text,
      refreshedAt: text,
      servers: [
        {
          name: text,
          state: text,
          client: text,
          path: text,
          address: text,
          message: text,
          stderrTail: text,
        },
      ],
      tools: [
        {
          id: 'one',
          server: text,
          name: text,
          description: text,
          category: text,
          readOnly: true,
          caution: 'changed',
        },
      ],
      diagnostics,
    }),
    tool: () => ({
      tool: {
        id: text,
        server: text,
        description: text,
        category: text,
        readOnly: false,
        examples: [text],
      },
      definition: { description: text },
      hints: text,
      parameters: [
        {
          name: text,
          required: true,
          type: text,
          description: text,
          default: text,
          limits: [text],
        },
      ],
      caution: text,
      guards: [{ name: text, mode: text, first: [text] }],
    }),
    workflows: () => ({
      workflows: [
        {
          name: text,
          enabled: true,
          description: text,
          mode: text,
          triggers: { category: text, tools: [text], keywords: [text] },
          prerequisites: [
            {
              step: 1,
              tool: text,
              description: text,
              required: false,
              params: { [text]: text },
              invalidatedBy: [text],
            },
          ],
          path: text,
        },
      ],
      diagnostics,
    }),
    ...more,
  }
  // oxlint-disable-next-line no-unsafe-type-assertion
  return stub as unknown as ProjectView
}

/** A gate that waits, with one text in every place that others decide. */
export function gateSaying(text: string): ShownGate {
  return {
    step: text,
    strength: 'prompted',
    approveWith: [
      { channel: 'session', client: text, line: text },
      { channel: 'terminal', line: text },
    ],
    key: '1:x',
    attempt: 1,
    planDigest: 'sha256:plan',
    stateDigest: 'sha256:state',
    shownDigest: 'sha256:shown',
    results: [{ step: text, status: 'success', result: text }],
    rework: text,
    refusal: undefined,
  }
}

/** The answers about a run. */
export function runSaying(run: RunShownNow): Pick<Stub, 'run' | 'step-text'> {
  return {
    run: () => runAnswer(run),
    'step-text': (asked) => stepPiece(run.result, asked),
  }
}

/** A run of these steps as its journal would have it. */
export function standing(result: RunResult, more: Partial<RunShownNow> = {}): RunShownNow {
  return {
    journal: {
      run: { mode: 'run', at: '2026-01-01T00:00:00.000Z', arguments: [result.skill] },
      updatedAt: '2026-01-01T00:00:01.000Z',
      done: new Map(),
      gates: new Map(),
      diagnostics: [],
      plan: planOf(result),
    },
    result,
    status: result.status,
    line: runLine,
    settings: { rail: { approval: 'prompted' } },
    ...more,
  }
}

/** A plan that could have led to the result. */
function planOf({ skill, attempts }: RunResult): Plan {
  const head = { skill, path: skill, trust: 'trusted' as const, digest: '', tokens: 0 }
  const policy = defaultChainPolicy
  const planned = (steps: readonly StepResult[]): PlannedStep[] =>
    steps.map(({ step, steps: inner }) =>
      inner === undefined
        ? { ...head, step, executor: 'script' }
        : { ...head, step, executor: 'chain', policy, steps: planned(inner) },
    )
  const steps = planned(attempts[0]?.steps ?? [])
  return { skill, digest: '', root: { ...head, step: '', executor: 'chain', policy, steps } }
}

/** A failed run with one step for each text, which is all it says, and its name unless that is given. */
export function resultOf(texts: readonly string[], name?: string): RunResult {
  const [text = ''] = texts
  const chain_state = { previous_outputs: [], accumulated_errors: [], total_metrics: {} }
  const steps = texts.map((said, at) => ({
    step: name ?? said,
    skill: name ?? said,
    status: 'failure' as const,
    result: said,
    errors: [{ code: name ?? said, message: said }],
    metrics: { [name ?? said]: said },
    evidence: 'exit-code' as const,
    startedAt: new Date(1_767_225_600_000 + at).toISOString(),
    durationMs: 5,
    log: said,
  }))
  return {
    runId: '0run',
    skill: name ?? text,
    status: 'failure',
    attempts: [
      {
        attempt: 1,
        status: 'failure',
        steps,
        chain_state,
        errors: [{ code: name ?? text, message: name ?? text }],
      },
    ],
    winner: name ?? text,
  }
}
