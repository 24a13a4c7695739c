import { errorsIn } from '#core/errors'
import { findEmbeddedCommands } from '#library/activation'
import type { SkillDocument } from '#skill/model'
import { parseSkill, readFrontmatter } from '#skill/parse'
import type { YamlNode } from '#skill/read-yaml'
import { compilePattern } from '#trigger/pattern'
import { checkSkillName, type InstalledNames } from './check-names.ts'
import type { Findings } from './findings.ts'
import type { AuditCode } from './rules.ts'

/** Checks what the fields of a `SKILL.md` ask for. Returns the skill's name, if it has one. */
export function checkFrontmatter(
  file: string,
  text: string,
  names: { installed: InstalledNames; directory: string },
  findings: Findings,
): string | undefined {
  const { skill, diagnostics } = parseSkill(text, { path: file })
  for (const { code, line, column } of diagnostics) {
    if (code !== 'yaml-reserved-key') continue
    const message = 'a key that reaches the prototype of objects made from the frontmatter'
    findings.add('prototype-key', { file, line, column }, message)
  }
  if (!skill) {
    const reason = errorsIn(diagnostics)[0]?.message ?? 'no reason'
    const message = `the frontmatter cannot be used, so its fields were not checked: ${reason}`
    findings.add('not-analysed', { file }, message)
    return undefined
  }
  const lines = fieldLines(skill)
  const { name } = skill.fields
  if (name !== undefined) checkSkillName(name, { file, line: lines.get('name') }, names, findings)
  checkFields(skill, lines, (code, line, message, subject) =>
    findings.add(code, { file, line }, message, { subject }),
  )
  const reading = readFrontmatter(text, '')
  // Not trimmed, so that line numbers are those of the file.
  const body = reading.ok ? reading.split.body : ''
  for (const { line } of findEmbeddedCommands(body)) {
    const place = { file, line: skill.bodyLine + line - 1 }
    const message = 'a command that some clients run before the model reads'
    findings.add('embedded-command', place, message)
  }
  return name
}

/** Sentences that have no word in common: a trigger that fires on all fires on every prompt. */
const neutralPrompts = [
  'fix it',
  'What does that mean?',
  '42',
  'Übersetze den Absatz',
  '- milk, eggs',
]

function checkFields(
  { fields }: SkillDocument,
  lines: ReadonlyMap<string, number>,
  report: (code: AuditCode, line: number | undefined, message: string, subject: string) => void,
): void {
  for (const { tool, pattern } of fields.allowedTools ?? []) {
    const subject = (pattern === undefined ? tool : `${tool}(${pattern})`).slice(0, 200)
    report('tool-requested', lines.get('allowed-tools'), `asks for ${subject}`, subject)
  }
  const { run, context, agent, model, hooks, triggers } = fields
  const chain = fields.chain?.steps.map(({ name }) => name).join(' ')
  for (const [field, value] of Object.entries({ run, chain, context, agent, model })) {
    if (value === undefined) continue
    const subject = `${field}: ${value.slice(0, 120)}`
    report('skill-behaviour', lines.get(field), subject, subject)
  }
  if (hooks !== undefined) {
    const events = typeof hooks === 'object' && hooks !== null ? Object.keys(hooks) : []
    const subject = events.join(', ').slice(0, 200)
    report('hooks', lines.get('hooks'), `declares hooks: ${subject}`, subject)
  }
  for (const { match, line } of triggers) {
    const reading = compilePattern(match)
    if (!reading.ok || !neutralPrompts.every((prompt) => reading.pattern.test(prompt))) continue
    const subject = match.slice(0, 120)
    report('trigger-broad', line, `fires on every prompt: ${subject}`, subject)
  }
}

function fieldLines({ frontmatter }: SkillDocument): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  const gather = (node: YamlNode): void => {
    if (node.kind !== 'map') return
    for (const { key, value } of node.entries) {
      if (!lines.has(key.text)) lines.set(key.text, key.line)
      if (key.text === 'metadata') gather(value)
    }
  }
  gather(frontmatter)
  return lines
}
