import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { writeLimit } from '#core/project-state'
import { defineCommand, option } from '#core/command'
import { type Diagnostic, errorsIn, hasErrors, exitCode, UsageError } from '#core/errors'
import type { Runtime } from '#core/runtime'
import { sarifText } from '#core/sarif'
import { amount, cell, linesText, safeLine, safeText } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { writeFileAtomicSync } from '#core/write-files'
import { parseSkill } from '#skill/parse'
import { splitFrontmatter } from '#skill/frontmatter'
import { validationRules } from '#skill/rules'
import {
  type TriggerCheck,
  type TriggerFix,
  checkTriggers,
  fixTriggers,
  triggerRules,
} from '#trigger/check'
import type { TriggerSkill } from '#trigger/match'
import {
  type CaseVerdict,
  caseLines,
  judgeCase,
  measure,
  measureLine,
  mostPromptBytes,
  readPromptCases,
} from '#trigger/prompt-cases'
import {
  type InstalledSkill,
  aboutTriggers,
  readText,
  skillArguments,
  skillsFor,
} from './skills.ts'

interface CheckResult {
  skills: readonly CheckedFile[]
  prompts?: readonly CaseVerdict[] | undefined
  measured?: ReturnType<typeof measure> | undefined
  diagnostics: readonly Diagnostic[]
  summary: { checked: number; risks: number; errors: number; warnings: number }
  directory: string
}

type CheckedFile = TriggerCheck & {
  changes?: TriggerFix['changes'] | undefined
  diff?: string | undefined
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
    format: option.choice('--format <name>', 'text, json, or sarif for code scanning', {
      choices: ['text', 'json', 'sarif'],
    }),
  },
  examples: ['triggers check skills/deploy', 'triggers check deploy --prompts prompts.json'],
  async run(context, { arguments: references, fix, dryRun, prompts: file }) {
    const isChecked = ({ path, triggers, diagnostics }: InstalledSkill) =>
      references.length + triggers.length > 0 || hasErrors(aboutTriggers(path, diagnostics))
    const checked = skillsFor(context, references)
      .skills.filter(isChecked)
      .map((skill) => checkOne(skill, { fix: fix || dryRun, dryRun, runtime: context.runtime }))
    const directory = context.runtime.cwd
    const readCases = (name: string) =>
      readPromptCases(readText(resolve(directory, name), mostPromptBytes), name)
    const { cases, diagnostics = [] } = file === undefined ? {} : readCases(file)
    const triggerSkills = checked.map(({ skill }) => skill)
    const prompts = cases?.map((one) => judgeCase(one, triggerSkills))
    const skills = checked.map((one) => one.file)
    const found = allDiagnostics({ skills, diagnostics })
    const errors = errorsIn(found).length
    const warnings = found.filter(({ severity }) => severity === 'warning').length
    const triggers = skills.flatMap((skill) => skill.triggers)
    const risks = triggers.filter(({ risk }) => risk !== undefined).length
    const summary = { checked: triggers.length, risks, errors, warnings }
    const measured = prompts && measure(prompts)
    return { skills, prompts, measured, diagnostics, summary, directory }
  },
  exitCode({ skills, prompts = [], diagnostics }) {
    const isBad =
      hasErrors(allDiagnostics({ skills, diagnostics })) || prompts.some(({ ok }) => !ok)
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

function allDiagnostics(result: Pick<CheckResult, 'skills' | 'diagnostics'>): Diagnostic[] {
  return [...result.skills.flatMap((skill) => skill.diagnostics), ...result.diagnostics]
}

function checkOne(
  { name, path, directory }: InstalledSkill,
  options: { fix: boolean; dryRun: boolean; runtime: Runtime },
): { skill: TriggerSkill; file: CheckedFile } {
  const before = readText(path)
  const { text, changes } = options.fix ? fixTriggers(before, path) : { text: before, changes: [] }
  const { skill: document, diagnostics } = parseSkill(text, { path })
  if (changes.length > 0 && !options.dryRun) {
    writeFileAtomicSync(path, text, { within: writeLimit(path, options.runtime) })
  }
  const split = splitFrontmatter(text)
  const triggers = document?.fields.triggers ?? []
  const skill = { name, path, directory, triggers, text, body: split.found ? split.body : '' }
  const check = checkTriggers(skill)
  const wrong = hasErrors(diagnostics) ? aboutTriggers(path, diagnostics) : []
  const unusable = wrong.map(({ line = 0, message }) => {
    const match = text.split(/\r?\n/)[line - 1]?.trim() ?? ''
    return { match, inject: '(none)', line, problems: [message] }
  })
  const all = [...check.triggers, ...unusable]
  const file = {
    ...check,
    triggers: all.toSorted((a, b) => a.line - b.line),
    diagnostics: [...aboutTriggers(path, diagnostics), ...check.diagnostics],
    changes: options.fix ? changes : undefined,
    diff: options.dryRun ? unifiedDiff(path, before, text) : undefined,
  }
  return { skill, file }
}

/** The lines of the reference's validate-triggers; a heading each where several skills are checked. */
function checkLines(files: readonly CheckedFile[], { checked, risks }: CheckResult['summary']) {
  const lines = files.flatMap(({ skill, path, triggers, changes = [], diff = '' }) => [
    files.length > 1 && safeLine(`${skill}: ${path}`),
    diff !== '' && safeText(diff),
    ...changes.map(({ line, from, to }) => safeLine(`FIXED line ${line}: ${from} => ${to}`)),
    ...triggers.flatMap(({ match, inject, risk, problems }) => {
      const verdict = !risk && problems.length === 0 ? 'OK' : 'FAIL'
      return [
        safeLine(`${verdict} ${match} -> ${inject}`),
        risk && 'Pattern matches the skill body - will fire on every invocation',
        risk && `First match: ${risk.bodyLine}:${cell(risk.text, 100)}`,
        ...problems.map(safeLine),
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
  measured: ReturnType<typeof measure>
  minimum: { precision?: number | undefined; recall?: number | undefined }
  diagnostics: readonly Diagnostic[]
}

interface Evaluation {
  skill: string
  file: string
  prompts: readonly CaseVerdict[]
  measured: ReturnType<typeof measure>
}

/** Where skill-creator writes them, below the directory of a skill. */
const evaluationFiles = ['evals/evals.json', 'evals/trigger-eval.json', 'trigger-eval.json']

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
  async run(context, { arguments: references, prompts: file, minPrecision, minRecall }) {
    const all = skillsFor(context, []).skills
    const chosen = references.length === 0 ? all : skillsFor(context, references).skills
    if (file !== undefined && chosen.length !== 1) {
      const message = `--prompts is for one skill, and there are ${chosen.length}`
      throw new UsageError({ code: 'eval-skills', message, hint: 'Name the skill.' })
    }
    const { cwd } = context.runtime
    const evaluations: Evaluation[] = []
    const diagnostics: Diagnostic[] = []
    for (const skill of chosen) {
      const files =
        file === undefined
          ? evaluationFiles.map((name) => join(skill.directory, name)).filter(existsSync)
          : [resolve(cwd, file)]
      const others = all.filter(({ name }) => name !== skill.name)
      // The skill competes with the others, as it does in the hook; only its own references count.
      const skills = [skill, ...others]
      for (const path of files) {
        const reading = readPromptCases(readText(path, mostPromptBytes), path)
        diagnostics.push(...reading.diagnostics)
        const prompts = reading.cases.map((one) => judgeCase(one, skills, skill.name))
        const evaluation = { skill: skill.name, file: path, prompts, measured: measure(prompts) }
        if (prompts.length > 0) evaluations.push(evaluation)
      }
    }
    const measured = measure(evaluations.flatMap(({ prompts }) => prompts))
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
