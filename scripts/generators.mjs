// The files that are made from the sources, as { path, text, mode?, problems? }.
import { auditRules } from '../src/audit/rules.ts'
import { settingTable, variableOf } from '../src/core/settings.ts'
import { parseCommandLine } from '../src/cli/command-line.ts'
import { commands } from '../src/cli/registry.ts'
import { fieldTable } from '../src/skill/field-table.ts'
import { frontmatterJsonSchema } from '../src/skill/field-table.ts'
import { validationRules } from '../src/skill/rules.ts'
import { pluginFiles } from './plugins.mjs'
import { prdCoverage } from './prd-coverage.mjs'

export async function generators() {
  return [
    { path: 'schema/frontmatter.json', text: json(frontmatterJsonSchema()) },
    { path: 'schema/config.json', text: json(settingsSchema()) },
    { path: 'docs/reference/commands.md', text: await commandsPage() },
    { path: 'docs/reference/settings.md', text: settingsPage() },
    { path: 'docs/reference/frontmatter.md', text: frontmatterPage() },
    { path: 'docs/reference/validation.md', text: validationPage() },
    { path: 'docs/reference/audit-rules.md', text: auditPage() },
    { path: 'docs/internals/prd-coverage.md', ...prdCoverage() },
    ...pluginFiles(),
  ]
}

async function commandsPage() {
  const sections = []
  for (const entry of commands) {
    const command = await entry.load()
    const { text } = parseCommandLine(entry, command, ['--help'])
    sections.push(`## skillrail ${entry.name}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`)
  }
  return page('Commands', 'What each command prints with `--help`.', sections.join('\n'))
}

function settingsPage() {
  const introduction = `Settings come from, in rising precedence: the defaults, your own
\`~/.config/skillrail/config.json\`, the project's \`.skillrail/config.json\`, the variables, and a file
named with \`--config\`. The files are JSON with comments. A project cannot set what would raise its own
rights.`
  const rows = settingTable.map((setting) => [
    `\`${setting.key}\``,
    `\`${variableOf(setting)}\``,
    allowed(setting),
    `\`${JSON.stringify(setting.fallback)}\``,
    setting.userOnly ? 'no' : 'yes',
    setting.description,
  ])
  const head = ['setting', 'variable', 'value', 'default', 'in projects', 'meaning']
  return page('Settings', introduction, table(head, rows))
}

/** The JSON Schema of `.skillrail/config.json` and of the user's own file, for editors. */
function settingsSchema() {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Settings of Skillrail',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' } },
  }
  for (const setting of settingTable) {
    const keys = setting.key.split('.')
    const last = keys.pop()
    const parent = keys.reduce(({ properties }, key) => {
      properties[key] ??= { type: 'object', additionalProperties: false, properties: {} }
      return properties[key]
    }, schema)
    parent.properties[last] = {
      description: setting.description,
      default: setting.fallback,
      ...shapeOf(setting),
    }
  }
  return schema
}

function shapeOf({ kind, choices, minimum, maximum, most }) {
  if (kind === 'choice') return { enum: choices }
  if (kind === 'integer') return { type: 'integer', minimum, maximum }
  if (kind === 'numbers') {
    return { type: 'array', maxItems: most, items: { type: 'number', minimum, maximum } }
  }
  return kind === 'text' || kind === 'address'
    ? { type: 'string' }
    : { type: 'array', items: { type: 'string' } }
}

const kinds = {
  paths: 'list of paths',
  names: 'list of names',
  words: 'list of words',
  text: 'text',
  address: 'http or https address',
}

function allowed(setting) {
  if (setting.kind === 'choice') return setting.choices.map((choice) => `\`${choice}\``).join(', ')
  if (setting.kind === 'integer') return `${setting.minimum} to ${setting.maximum}`
  if (setting.kind === 'numbers')
    return `list of numbers from ${setting.minimum} to ${setting.maximum}`
  if (setting.kind === 'patterns') return 'list of names with `*`'
  return kinds[setting.kind]
}

function frontmatterPage() {
  const introduction = `Every field that Skillrail reads or knows. A field placed "either" may stand at the
top level or below \`metadata\`, where the specification allows only text: every such field has a form
that is text.`
  const rows = fieldTable.map((field) => [
    `\`${field.name}\``,
    field.owner,
    field.placement,
    field.constraint,
    field.clients.join(', '),
  ])
  const head = ['field', 'defined by', 'placement', 'value', 'also read by']
  return page('Frontmatter', introduction, table(head, rows))
}

function validationPage() {
  const introduction = `The codes of \`skillrail validate\`. Errors make a skill invalid, warnings do not,
advice is \`info\`. The profile \`reference\` gives the verdict of the reference validator instead.`
  const rows = validationRules.map((rule) => [
    `\`${rule.code}\``,
    rule.severity,
    rule.sentence,
    rule.source,
  ])
  return page('Validation rules', introduction, table(['code', 'severity', 'rule', 'source'], rows))
}

function auditPage() {
  const introduction = `The codes of [\`skillrail audit\`](audit.md). Errors and warnings are suspicious; \`info\` is a fact.`
  const rows = auditRules.map((rule) => [
    `\`${rule.code}\``,
    rule.severity,
    rule.sentence,
    rule.source,
  ])
  return page('Audit rules', introduction, table(['code', 'severity', 'rule', 'source'], rows))
}

function page(title, introduction, body) {
  return `# ${title}\n\n<!-- Generated from the sources by npm run generate. -->\n\n${introduction}\n\n${body.trimEnd()}\n`
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n')
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`
}
