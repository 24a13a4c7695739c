import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Diagnostic, UsageError } from '#core/errors'
import { type CaseVerdict, judgeCase, measure, type Measurement } from '#trigger/prompt-cases'
import { readPromptFile, type Settled, skillsFor } from './skills.ts'

export interface Evaluation {
  skill: string
  file: string
  prompts: readonly CaseVerdict[]
  measured: Measurement
}

/** Where skill-creator writes them, below the directory of a skill. */
const evaluationFiles = ['evals/evals.json', 'evals/trigger-eval.json', 'trigger-eval.json']

/**
 * Measures what the labelled prompts of skills inject.
 *
 * @throws {UsageError} for one file of prompts and several skills
 */
export function evaluateTriggers(
  context: Settled,
  { references, prompts: file }: { references: readonly string[]; prompts: string | undefined },
): { evaluations: readonly Evaluation[]; diagnostics: readonly Diagnostic[] } {
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
      const reading = readPromptFile(path)
      diagnostics.push(...reading.diagnostics)
      const prompts = reading.cases.map((one) => judgeCase(one, skills, skill.name))
      const evaluation = { skill: skill.name, file: path, prompts, measured: measure(prompts) }
      if (prompts.length > 0) evaluations.push(evaluation)
    }
  }
  return { evaluations, diagnostics }
}
