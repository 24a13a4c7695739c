import { exitCode, readRegularFile } from '../../base/index.ts'
import { discoverOptionsFrom, findSkill, maxSkillBytes } from '../../library/index.ts'
import {
  parseSkill,
  type SkillDocument,
  SkillLoadError,
  SkillParseError,
  type YamlNode,
} from '../../skill/index.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program
      .argument('<skill>', 'a name, scope:name, a directory or a SKILL.md')
      .addHelpText(
        'after',
        '\nPrints what the reference library calls read-properties, in its form.\n\nExample:\n  $ skillrail properties skills/pdf-processing\n',
      )
  },
  async run(context, [reference = '']) {
    const info = findSkill(reference, discoverOptionsFrom(context.runtime, context.settings))
    context.output.json(propertiesOf(documentAt(info.path)))
    return exitCode.done
  },
})

function documentAt(path: string): SkillDocument {
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes })
  if (!reading.ok) {
    throw new SkillLoadError({ code: reading.code, message: `${reading.message}.` })
  }
  const { skill, diagnostics } = parseSkill(reading.text, { path })
  if (skill !== undefined) return skill
  const message = `${path} has no usable frontmatter.`
  throw new SkillParseError({ code: 'skill-unusable', message, diagnostics })
}

/** The specification's fields, under their own names; what is absent is left out. */
function propertiesOf({ fields, frontmatter }: SkillDocument): object {
  const allowedTools = frontmatter.entries.find(({ key }) => key.text === 'allowed-tools')
  return {
    name: fields.name?.trim(),
    description: fields.description?.trim(),
    license: fields.license,
    compatibility: fields.compatibility,
    'allowed-tools': allowedTools === undefined ? undefined : asWritten(allowedTools.value),
    metadata: Object.keys(fields.metadata).length > 0 ? { ...fields.metadata } : undefined,
  }
}

function asWritten(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.text
  if (node.kind === 'list') return node.items.map((item) => asWritten(item))
  return Object.fromEntries(node.entries.map(({ key, value }) => [key.text, asWritten(value)]))
}
