import { exitCode, readRegularFile, safeLine, safeText } from '../../base/index.ts'
import {
  currentTrust,
  type DiscoverOptions,
  discoverOptionsFrom,
  discoverSkills,
  findSkill,
  loadSkill,
  maxSkillBytes,
  type Skill,
} from '../../library/index.ts'
import { SkillLoadError } from '../../skill/index.ts'
import type { TrustVerdict } from '../../trust/index.ts'
import { contradiction } from '../../base/errors.ts'
import { fileTree } from '../_file-tree.ts'
import { skillFacts } from '../_skill-facts.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  body?: boolean | undefined
  raw?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<skill>', 'a name, scope:name, a directory or a SKILL.md')
      .option('--body', 'only the instructions, as they are before arguments are put in')
      .option('--raw', 'only the SKILL.md, as it is on the disk')
      .addHelpText('after', '\nExample:\n  $ skillrail show code-review\n')
  },
  async run(context, [reference = ''], { body, raw }) {
    if (body === true && raw === true) {
      throw contradiction(
        '--body',
        '--raw',
        'Give --body for the instructions, --raw for the file.',
      )
    }
    const { output } = context
    const options = discoverOptionsFrom(context.runtime, context.settings)
    const discovery = discoverSkills(options)
    const info = findSkill(reference, { ...options, discovery })
    if (raw === true) {
      print(context, 'text', rawText(info.path))
      return exitCode.done
    }
    const skill = loadSkill(info)
    if (body === true) print(context, 'body', skill.body)
    else if (context.options.json) output.json(report(skill, verdictOf(skill, options)))
    else show(context, skill, verdictOf(skill, options))
    return exitCode.done
  },
})

function verdictOf(skill: Skill, options: DiscoverOptions): TrustVerdict {
  return currentTrust(skill.info, options)
}

/** As it is for a file or a pipe; made harmless for a terminal. */
function print({ output, options }: CommandContext, key: string, text: string): void {
  if (options.json) output.json({ [key]: text })
  else {
    const shown = output.isTerminal ? safeText(text) : text
    output.raw(shown.endsWith('\n') ? shown : `${shown}\n`)
  }
}

function rawText(path: string): string {
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes })
  if (reading.ok) return reading.text
  throw new SkillLoadError({ code: reading.code, message: `${reading.message}.` })
}

function show({ output }: CommandContext, { info, resources }: Skill, trust: TrustVerdict): void {
  output.line(output.style('bold', safeLine(info.name)))
  for (const line of wrapLines(safeLine(info.description), output.width)) output.line(line)
  output.line()
  output.table(skillFacts(info, trust).map(([label, value]) => [output.style('dim', label), value]))
  output.line()
  if (resources.files.length === 0) output.line(output.style('dim', 'no files besides SKILL.md'))
  for (const line of fileTree(resources)) output.line(line)
  if (info.diagnostics.length > 0) output.note('')
  output.diagnostics(info.diagnostics)
}

function report({ info, digest, resources }: Skill, trust: TrustVerdict): object {
  const { name, description, path, directory, scope, source, tokens, fields } = info
  return {
    name,
    description,
    path,
    directory,
    scope,
    source,
    trust: trust.level,
    trustReason: trust.reason,
    tokens,
    digest,
    fields: { ...fields, metadata: { ...fields.metadata } },
    resources: resources.files,
    resourcesTruncated: resources.truncated,
    shadows: info.shadows,
    diagnostics: info.diagnostics,
  }
}

function wrapLines(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
