// The files that are made from the sources, as { path, text, mode? }.
import { readFileSync } from 'node:fs'
import { toJSONSchema } from 'zod/mini'
import { auditRules } from '../src/audit/rules.ts'
import { settingTable, variableOf } from '../src/core/settings.ts'
import { parseCommandLine } from '../src/cli/command-line.ts'
import { commands, home } from '../src/cli/registry.ts'
import { fieldTable } from '../src/skill/field-table.ts'
import { frontmatterJsonSchema } from '../src/skill/field-table.ts'
import { validationRules } from '../src/skill/rules.ts'
import { layersTable, lintOverrides } from './layers.mjs'
import { railsTable } from './rails-table.mjs'
import { pluginFiles } from './plugins.mjs'
import { quickValidate } from './quick-validate.mjs'

export async function generators() {
  return [
    { path: 'schema/frontmatter.json', text: json(frontmatterJsonSchema()) },
    { path: 'schema/config.json', text: json(settingsSchema()) },
    { path: 'docs/reference/commands.md', text: await commandsPage() },
    { path: 'docs/reference/settings.md', text: settingsPage() },
    { path: 'docs/reference/frontmatter.md', text: frontmatterPage() },
    { path: 'docs/reference/validation.md', text: validationPage() },
    { path: 'docs/reference/audit-rules.md', text: auditPage() },
    await quickValidate(),
    { path: '.oxlintrc.json', text: lintConfiguration() },
    { path: 'AGENTS.md', text: withPart('AGENTS.md', 'layers', layersTable()) },
    ...['docs/rails.md', 'docs/clients.md'].map((path) => {
      return { path, text: withPart(path, 'rails', railsTable()) }
    }),
    ...pluginFiles(),
  ]
}

/** The rules for the layers replace those that an earlier run wrote; the others are written by hand. */
function lintConfiguration() {
  const configuration = JSON.parse(readFileSync('.oxlintrc.json', 'utf8'))
  const byHand = configuration.overrides.filter(({ files }) => !files[0].startsWith('src/'))
  return json({ ...configuration, overrides: [...lintOverrides(), ...byHand] })
}

/** A page that is written by hand, apart from the part between two comments. */
function withPart(path, name, part) {
  const [before, after] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const text = readFileSync(path, 'utf8')
  const start = text.indexOf(before) + before.length
  return `${text.slice(0, start)}\n\n${part}\n\n${text.slice(text.indexOf(after))}`
}

async function commandsPage() {
  const sections = []
  for (const entry of [home, ...commands]) {
    const command = await entry.load()
    const { text } = parseCommandLine(entry, command, ['--help'])
    sections.push(
      `## ${`skillrail ${entry.name}`.trimEnd()}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`,
    )
  }
  return page('Commands', 'What each command prints with `--help`.', sections.join('\n'))
}

function settingsPage() {
  const introduction = `Settings come from, in rising precedence: the defaults, your own
\`~/.config/skillrail/config.json\`, the project's \`.skillrail/config.json\`, the variables, and a file
named with \`--config\`. The files are JSON with comments. Lists of tools that are denied, asked about or never
repeated add up over all sources.

A project cannot set what would raise its own rights: such a value is ignored with a warning. \`stricter\` means
that a project may ask for less than you allow.

Settings with errors are refused. Text that is not JSON or not UTF-8, an unknown or repeated key, a wrong value, and
a misspelled \`SKILLRAIL_*\` variable all end a command with exit code 4 and the place of the error, because a
restriction could be lost. \`doctor\`, \`validate\`, \`list\`, \`skillrail\` alone, \`hooks status\`, \`hooks log\`, \`runs list\`,
\`runs show\`, \`completion\` and help report the errors and still run. The hook injects nothing.`
  const rows = settingTable.map((setting) => [
    `\`${setting.key}\``,
    `\`${variableOf(setting)}\``,
    setting.expected,
    `\`${JSON.stringify(setting.fallback)}\``,
    setting.loosest !== undefined ? 'stricter' : setting.userOnly ? 'no' : 'yes',
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
      ...schemaOf(setting),
    }
  }
  return schema
}

function schemaOf({ schema }) {
  const shape = toJSONSchema(schema, { target: 'draft-07', io: 'input' })
  // These say nothing about a file: which dialect it is, and that the value is frozen after it was read.
  delete shape.$schema
  delete shape.readOnly
  return shape
}

function frontmatterPage() {
  const introduction = `Every field that Skillrail reads or knows. A field placed "either" may be at the
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
