import { defineCommand, option } from '#core/command'
import { type Diagnostic, exitCode, hasErrors } from '#core/errors'
import { sarifText } from '#core/sarif'
import { amount, cell, linesText, safeLine, safeText } from '#core/text'
import { validationRules } from '#skill/rules'
import {
  allDiagnostics,
  type CheckedFile,
  checkSkillTriggers,
  type TriggersCheck,
} from '#project/check-triggers'
import { type Evaluation, evaluateTriggers } from '#project/evaluate-triggers'
import { triggerRules } from '#trigger/check'
import {
  type CaseVerdict,
  caseLines,
  measure,
  type Measurement,
  measureLine,
} from '#trigger/prompt-cases'
import { skillArguments } from './options.ts'

interface CheckResult extends TriggersCheck {
  failOn: 'error' | 'warning'
}

export const check = defineCommand<CheckResult>()({
  arguments: skillArguments,
  options: {
    fix: option.flag(
      '--fix',
      'write patterns in the portable subset where the meaning stays the same',
    ),
    dryRun: option.flag('--dry-run', 'with --fix, show the changes and write nothing'),
    prompts: option.text(
      '--prompts <file>',
      'JSON of { "prompt", "inject" }, an evals.json or a trigger-eval.json: what each prompt must inject',
    ),
    failOn: option.choice(
      '--fail-on <severity>',
      'lowest severity that exits with code 1: error, warning',
      { choices: ['error', 'warning'], default: 'error' },
    ),
    format: option.choice('--format <name>', 'text, json, or sarif for code scanning', {
      choices: ['text', 'json', 'sarif'],
    }),
  },
  examples: ['triggers check skills/deploy', 'triggers check deploy --prompts prompts.json'],
  async run(context, { arguments: references, failOn, fix, dryRun, prompts }) {
    return { ...checkSkillTriggers(context, { references, fix, dryRun, prompts }), failOn }
  },
  exitCode({ summary: { errors, warnings }, prompts = [], failOn }) {
    const bad = failOn === 'error' ? errors : errors + warnings
    const isBad = bad > 0 || prompts.some(({ ok }) => !ok)
    return isBad ? exitCode.failed : exitCode.done
  },
  render: ({ skills, prompts, summary }) =>
    linesText([...checkLines(skills, summary), ...promptLines(prompts)]),
  notes: allDiagnostics,
  formats: {
    sarif: (result) =>
      sarifText([...triggerRules, ...validationRules], allDiagnostics(result), result.directory),
  },
})

/**
 * Makes the lines of the reference's validate-triggers, with a heading for each of several skills.
 */
function checkLines(files: readonly CheckedFile[], { checked, risks }: TriggersCheck['summary']) {
  const lines = files.flatMap(({ skill, path, triggers, changes = [], diff = '' }) => [
    files.length > 1 && safeLine(`${skill}: ${path}`),
    diff !== '' && safeText(diff),
    ...changes.map(({ line, from, to }) => safeLine(`FIXED line ${line}: ${from} => ${to}`)),
    ...triggers.flatMap(({ match, inject, risk, problems, neverFires = [] }) => {
      const isWrong = risk !== undefined || problems.length > 0
      const verdict = isWrong ? 'FAIL' : neverFires.length > 0 ? 'WARN' : 'OK'
      return [
        safeLine(`${verdict} ${match} -> ${inject}`),
        risk && 'Pattern matches the skill body - will fire on every invocation',
        risk && `First match: ${risk.bodyLine}:${cell(risk.text, 100)}`,
        ...[...problems, ...neverFires].map(safeLine),
      ]
    }),
  ])
  const broken = files.flatMap((file) =>
    file.triggers.filter(({ problems }) => problems.length > 0),
  )
  const summary = `${amount(checked, 'trigger')} checked, ${risks} false-positive risk(s)`
  return [...lines, broken.length === 0 ? summary : `${summary}, ${broken.length} with errors`]
}

function promptLines(verdicts: readonly CaseVerdict[] | undefined): string[] {
  if (!verdicts) return []
  const wrong = verdicts.filter(({ ok }) => !ok).length
  if (verdicts.length === 0) return ['No prompt could be read.']
  return [
    ...caseLines(verdicts),
    measureLine(measure(verdicts)),
    `${amount(verdicts.length, 'prompt')} checked, ${wrong} wrong`,
  ]
}

interface EvalResult {
  evaluations: readonly Evaluation[]
  measured: Measurement
  minimum: { precision?: number | undefined; recall?: number | undefined }
  diagnostics: readonly Diagnostic[]
}

const percentRange = { least: 0, most: 100 }

export const evaluate = defineCommand<EvalResult>()({
  arguments: skillArguments,
  options: {
    prompts: option.text(
      '--prompts <file>',
      'labelled prompts for one skill (default: evals.json and trigger-eval.json of each skill)',
    ),
    minPrecision: option.integer('--min-precision <percent>', 'exit with 1 below it', percentRange),
    minRecall: option.integer('--min-recall <percent>', 'exit with 1 below it', percentRange),
  },
  examples: [
    'triggers eval deploy',
    'triggers eval deploy --prompts prompts.jsonl --min-precision 95',
  ],
  async run(context, { arguments: references, prompts, minPrecision, minRecall }) {
    const { evaluations, diagnostics } = evaluateTriggers(context, { references, prompts })
    const measured = measure(evaluations.flatMap((evaluation) => evaluation.prompts))
    const minimum = { precision: minPrecision, recall: minRecall }
    return { evaluations, measured, minimum, diagnostics }
  },
  exitCode({ measured, minimum, diagnostics }) {
    const isLow = (['precision', 'recall'] as const).some(
      (name) => 100 * measured[name].share < (minimum[name] ?? 0),
    )
    return isLow || hasErrors(diagnostics) ? exitCode.failed : exitCode.done
  },
  render({ evaluations, measured, diagnostics }) {
    if (evaluations.length === 0 && hasErrors(diagnostics)) return 'No prompt could be read.\n'
    if (evaluations.length === 0) return 'No skill has an evals.json or trigger-eval.json.\n'
    const total = evaluations.reduce((sum, { prompts }) => sum + prompts.length, 0)
    const lines = evaluations.flatMap((one) => [
      safeLine(`${one.skill}: ${amount(one.prompts.length, 'prompt')} of ${one.file}`),
      ...caseLines(one.prompts.filter(({ ok }) => !ok)),
      measureLine(one.measured),
    ])
    const summary = `All ${amount(total, 'prompt')}: ${measureLine(measured)}`
    return linesText(evaluations.length === 1 ? lines : [...lines, summary])
  },
  notes: ({ diagnostics }) => [...diagnostics],
})
