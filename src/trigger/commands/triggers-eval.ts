import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineCommand, option } from '../../core/command.ts'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { exitCode, UsageError } from '../../core/errors.ts'
import { amount, linesText, safeLine } from '../../core/text.ts'
import {
  caseLines,
  type CaseVerdict,
  judgeCase,
  measure,
  measureLine,
  mostPromptBytes,
  readPromptCases,
} from '../prompt-cases.ts'
import { readText, skillsFor } from './skills.ts'

interface Result {
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

export const command = defineCommand<Result>()({
  arguments: { '[skill...]': 'names or paths (default: all that are installed)' },
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
    return isLow || hasErrors(diagnostics) ? exitCode.badAnswer : exitCode.done
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
