import { safeLine } from '../base/index.ts'
import { findEmbeddedCommands } from '../library/index.ts'
import { parseSkill, readFrontmatter, type SkillDocument, type YamlNode } from '../skill/index.ts'
import { compilePattern } from '../trigger/index.ts'
import type { Findings } from './_findings.ts'
import { checkSkillName } from './check-name.ts'
import type { OtherSkill } from './model.ts'

/** What the fields of a `SKILL.md` ask for. Gives the name, where there is one. */
export function checkFrontmatter(
  file: string,
  text: string,
  others: readonly OtherSkill[],
  findings: Findings,
): string | undefined {
  const { skill, diagnostics } = parseSkill(text, { path: file })
  for (const { code, line, column } of diagnostics) {
    if (code !== 'yaml-reserved-key') continue
    const message = 'a key that reaches the prototype of objects made from the frontmatter'
    findings.add('prototype-key', { file, line, column }, message)
  }
  if (skill === undefined) {
    const reason = diagnostics.find(({ severity }) => severity === 'error')?.message ?? 'no reason'
    const message = `the frontmatter cannot be used, so its fields were not looked at: ${safeLine(reason)}`
    findings.add('not-analysed', { file }, message)
    return undefined
  }
  const lines = fieldLines(skill)
  const { fields } = skill
  if (fields.name !== undefined) {
    checkSkillName(fields.name, { file, line: lines('name') }, others, findings)
  }
  for (const { tool, pattern } of fields.allowedTools ?? []) {
    const subject = safeLine(pattern === undefined ? tool : `${tool}(${pattern})`).slice(0, 200)
    const place = { file, line: lines('allowed-tools') }
    findings.add('tool-requested', place, `asks for ${subject}`, { subject })
  }
  checkBehaviour(skill, lines, findings)
  checkTriggers(skill, findings)
  for (const { line } of findEmbeddedCommands(skillBody(text))) {
    const place = { file, line: skill.bodyLine + line - 1 }
    findings.add(
      'embedded-command',
      place,
      'a command that some clients run before the model reads',
    )
  }
  return fields.name
}

function checkBehaviour(
  { fields }: SkillDocument,
  lines: (field: string) => number | undefined,
  findings: Findings,
): void {
  const { run, chain, context, agent, model, hooks } = fields
  const steps = chain?.steps.map(({ name }) => name).join(' ')
  for (const [field, value] of Object.entries({ run, chain: steps, context, agent, model })) {
    if (value === undefined) continue
    const subject = `${field}: ${safeLine(value).slice(0, 120)}`
    const place = { file: 'SKILL.md', line: lines(field) }
    findings.add('skill-behaviour', place, subject, { subject })
  }
  if (hooks === undefined) return
  const events = typeof hooks === 'object' && hooks !== null ? Object.keys(hooks) : []
  const subject = safeLine(events.join(', ')).slice(0, 200)
  findings.add('hooks', { file: 'SKILL.md', line: lines('hooks') }, `declares hooks: ${subject}`, {
    subject,
  })
}

/** Sentences that have no word in common. A trigger that fires on all of them fires on whatever is typed. */
const neutralPrompts = [
  'fix it',
  'What does that mean?',
  '42',
  'Übersetze den Absatz',
  '- milk, eggs',
]

function checkTriggers({ path, fields }: SkillDocument, findings: Findings): void {
  for (const { match, line } of fields.triggers) {
    const reading = compilePattern(match)
    if (!reading.ok || !neutralPrompts.every((prompt) => reading.pattern.test(prompt))) continue
    const subject = safeLine(match).slice(0, 120)
    findings.add('trigger-broad', { file: path, line }, `fires on whatever is typed: ${subject}`, {
      subject,
    })
  }
}

/** The line of a field, at the top level or below `metadata`. */
function fieldLines({ frontmatter }: SkillDocument): (field: string) => number | undefined {
  const lines = new Map<string, number>()
  const gather = (node: YamlNode): void => {
    if (node.kind !== 'map') return
    for (const { key, value } of node.entries) {
      if (!lines.has(key.text)) lines.set(key.text, key.line)
      if (key.text === 'metadata') gather(value)
    }
  }
  gather(frontmatter)
  return (field) => lines.get(field)
}

/** Not trimmed, so that its lines are those of the file. */
function skillBody(text: string): string {
  const reading = readFrontmatter(text, '')
  return reading.ok ? reading.split.body : ''
}
