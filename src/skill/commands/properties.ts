import { indentedJson } from '../../core/json.ts'
import { defineCommand } from '../../core/command.ts'
import { discoverOptionsFrom } from '../../library/discover.ts'
import { findSkill } from '../../library/find-skill.ts'
import { readText } from '../../trigger/commands/skills.ts'
import { SkillParseError } from '../errors.ts'
import type { JsonValue, SkillDocument } from '../model.ts'
import { parseSkill } from '../parse.ts'
import type { YamlNode } from '../read-yaml.ts'

export const command = defineCommand<object>()({
  arguments: { '<skill>': 'a name, scope:name, a directory or a SKILL.md' },
  options: {},
  details: 'Prints the same JSON as read-properties of the reference library.',
  examples: ['properties skills/pdf-processing'],
  async run({ runtime, settings }, { arguments: [reference = ''] }) {
    const { path } = findSkill(reference, discoverOptionsFrom(runtime, settings))
    const { skill, diagnostics } = parseSkill(readText(path), { path })
    if (skill) return propertiesOf(skill)
    const message = `${path} has no usable frontmatter.`
    throw new SkillParseError({ code: 'skill-unusable', message, diagnostics })
  },
  render: indentedJson,
})

/** The specification's fields, under their own names; what is absent is left out. */
function propertiesOf({ fields, frontmatter }: SkillDocument): object {
  const allowedTools = frontmatter.entries.find(({ key }) => key.text === 'allowed-tools')
  return {
    name: fields.name?.trim(),
    description: fields.description?.trim(),
    license: fields.license,
    compatibility: fields.compatibility,
    'allowed-tools': allowedTools ? asWritten(allowedTools.value) : undefined,
    metadata: Object.keys(fields.metadata).length > 0 ? { ...fields.metadata } : undefined,
  }
}

function asWritten(node: YamlNode): JsonValue {
  if (node.kind === 'scalar') return node.text
  if (node.kind === 'list') return node.items.map((item) => asWritten(item))
  return Object.fromEntries(node.entries.map(({ key, value }) => [key.text, asWritten(value)]))
}
