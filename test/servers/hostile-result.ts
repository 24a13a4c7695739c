import type { RunResult, StepResult } from '../../src/chain/engine.ts'

/** The result of a run with these texts in every field that a skill can set. */
export function hostileResult(texts: readonly string[]): RunResult {
  const steps = texts.map(hostileStep)
  const [text = ''] = texts
  return {
    runId: text,
    skill: text,
    status: 'failure',
    attempts: [1, 2].map((attempt) => ({
      attempt,
      status: 'failure',
      steps: [...steps, { ...hostileStep(text), steps }],
      chain_state: { previous_outputs: [], accumulated_errors: [], total_metrics: {} },
    })),
    winner: text,
  }
}

function hostileStep(text: string): StepResult {
  return {
    step: text,
    skill: text,
    status: 'failure',
    result: text,
    errors: [{ code: text, message: text }],
    metrics: { [text]: text, nested: { [text]: [text] } },
    evidence: 'exit-code',
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 5,
    reason: text,
    log: text,
  }
}
