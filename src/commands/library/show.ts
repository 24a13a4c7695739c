import { defineCommand, option, type Screen } from '#core/command'
import { contradiction } from '#core/errors'
import { indentedJson } from '#core/json'
import { bytes, linesText, safeLine, safeText } from '#core/text'
import { argumentText } from '#skill/arguments'
import { SkillParseError } from '#skill/errors'
import type { SkillDocument, SkillFile } from '#skill/model'
import { parseSkill } from '#skill/parse'
import { valuesOf, yamlToJson } from '#skill/read-yaml'
import { type Activation, activateSkill, checkInvocation } from '#library/activation'
import { currentTrust, discoverOptionsFrom, variablesFor } from '#library/discover'
import { findSkill, loadSkill } from '#library/find-skill'
import { type ShownSkill, showSkill, skillFacts } from '#project/show-skill'
import { readText } from '#project/skills'

/** `--body` and `--raw` return only the text. */
type ShowResult = ShownSkill | { body: string } | { text: string }

const skillHelp = 'a name, scope:name, a directory or a SKILL.md'

export const show = defineCommand<ShowResult>()({
  arguments: { '<skill>': skillHelp },
  options: {
    body: option.flag('--body', 'only the instructions, without arguments inserted'),
    raw: option.flag('--raw', 'only the SKILL.md, as it is on the disk'),
  },
  examples: ['show code-review'],
  async run({ runtime, settings }, { arguments: [reference = ''], body, raw }) {
    const hint = 'Give --body for the instructions, --raw for the file.'
    if (body && raw) throw contradiction('--body', '--raw', hint)
    const options = discoverOptionsFrom(runtime, settings)
    const info = findSkill(reference, options)
    if (raw) return { text: readText(info.path) }
    return body ? { body: loadSkill(info).body } : showSkill(info, options)
  },
  render(result, screen) {
    if ('text' in result) return wholeText(result.text, screen)
    return 'body' in result ? wholeText(result.body, screen) : skillText(result, screen)
  },
  notes(result) {
    const diagnostics = 'diagnostics' in result ? result.diagnostics : []
    return diagnostics.length === 0 ? [] : ['', ...diagnostics]
  },
})

/** Returns the text unchanged for a file or a pipe, and without control characters for a terminal. */
function wholeText(text: string, { isTerminal }: Screen): string {
  const printable = isTerminal ? safeText(text) : text
  return printable.endsWith('\n') ? printable : `${printable}\n`
}

function skillText(skill: ShownSkill, { style, table }: Screen): string {
  const files = fileTree(skill.resources, skill.resourcesTruncated)
  const none = skill.resources.length === 0 ? [style('dim', 'no files besides SKILL.md')] : []
  const head = [style('bold', safeLine(skill.name)), safeLine(skill.description)]
  const facts = skillFacts(skill).map(([label, value]) => [style('dim', label), value])
  return linesText([...head, '']) + table(facts) + linesText(['', ...none, ...files])
}

type TreeFile = { names: readonly string[]; note: string }

function fileTree(files: readonly SkillFile[], truncated: boolean): string[] {
  const rows = files.map(({ path, size, executable }) => {
    const run = executable && process.platform !== 'win32' ? ', executable' : ''
    return { names: path.split('/'), note: bytes(size) + run }
  })
  return [...treeLines(rows, ''), ...(truncated ? ['… and more'] : [])]
}

function treeLines(files: readonly TreeFile[], indent: string): string[] {
  const isBelow = ({ names }: TreeFile) => names.length > 1
  const folders = Map.groupBy(files.filter(isBelow), ({ names }) => names[0] ?? '')
  const entries = [
    ...Array.from(folders, ([name, below]) => ({ text: `${safeLine(name)}/`, below })),
    ...files
      .filter((file) => !isBelow(file))
      .map(({ names, note }) => ({ text: `${safeLine(names[0] ?? '')}  ${note}`, below: [] })),
  ]
  return entries.flatMap(({ text, below }, index) => {
    const isLast = index === entries.length - 1
    const rest = below.map(({ names, note }) => ({ names: names.slice(1), note }))
    return [
      `${indent}${isLast ? '└── ' : '├── '}${text}`,
      ...treeLines(rest, `${indent}${isLast ? '    ' : '│   '}`),
    ]
  })
}

export const properties = defineCommand<object>()({
  arguments: { '<skill>': skillHelp },
  options: {},
  details: 'Prints the same JSON as read-properties of the reference library.',
  examples: ['show --properties skills/pdf-processing'],
  async run({ runtime, settings }, { arguments: [reference = ''] }) {
    const { path } = findSkill(reference, discoverOptionsFrom(runtime, settings))
    const { skill, diagnostics } = parseSkill(readText(path), { path })
    if (skill) return propertiesOf(skill)
    const message = `${path} has no usable frontmatter.`
    throw new SkillParseError({ code: 'skill-unusable', message, diagnostics })
  },
  render: indentedJson,
})

/** Returns the specification's fields under their names in the file, without the absent ones. */
function propertiesOf({ fields, frontmatter }: SkillDocument): object {
  const allowedTools = valuesOf(frontmatter).get('allowed-tools')
  return {
    name: fields.name?.trim(),
    description: fields.description?.trim(),
    license: fields.license,
    compatibility: fields.compatibility,
    'allowed-tools': allowedTools && yamlToJson(allowedTools, 'text'),
    metadata: Object.keys(fields.metadata).length > 0 ? { ...fields.metadata } : undefined,
  }
}

export const activate = defineCommand<Activation>()({
  arguments: {
    '<skill>': skillHelp,
    '[arguments...]': 'values to insert into the instructions',
  },
  options: {
    source: option.choice('--source <source>', 'user, model or code: who activates it', {
      choices: ['user', 'model', 'code'],
      default: 'user',
    }),
  },
  details: 'A single argument is used as typed text. Put options of the skill after --.',
  examples: ['show --activate code-review src/index.ts'],
  async run({ runtime, settings }, { arguments: [reference = '', ...words], source }) {
    const search = discoverOptionsFrom(runtime, settings)
    const info = findSkill(reference, search)
    checkInvocation(info, source)
    const skill = loadSkill(info)
    const { level: trustLevel } = currentTrust(skill.info, search)
    const variables = variablesFor(skill.info, search)
    return activateSkill({ skill, source, arguments: argumentText(words), trustLevel, variables })
  },
  render: ({ content }, { isTerminal }) => `${isTerminal ? safeText(content) : content}\n`,
  notes: ({ diagnostics }) => diagnostics,
})
