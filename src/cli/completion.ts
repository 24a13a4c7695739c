import { type AnyCommand, type Context, defineCommand } from '#core/command'
import { wrongUse } from '#core/errors'
import { formerNameOf, formerNames, valueOptions } from '#core/former-names'
import { cell, linesText, safeLine } from '#core/text'
import type { ToolIndex } from '#tools/cache/tool-index'
import {
  type CommandEntry,
  commands,
  commandsBelow,
  findCommand,
  globalOptions,
  groupSummaries,
  inFull,
} from './registry.ts'

interface Candidate {
  word: string
  about: string
}

type CompletionResult = { shell: Shell; script: string } | { shell: Shell; found: Candidate[] }

/** Each script asks this command for candidates. An empty answer means files. */
const scripts = {
  bash: `_skillrail() {
  local IFS=$'\\n'
  COMPREPLY=($(skillrail completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _skillrail skillrail
`,
  zsh: `#compdef skillrail
_skillrail() {
  local -a found
  found=("\${(@f)$(skillrail completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then _describe skillrail found; else _files; fi
}
compdef _skillrail skillrail
`,
  fish: `function __skillrail
  set -l words (commandline -opc) (commandline -ct)
  set -l found (skillrail completion fish -- $words[2..] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c skillrail -f -a '(__skillrail)'
`,
} as const

type Shell = keyof typeof scripts

const places = {
  bash: 'Add to ~/.bashrc: source <(skillrail completion bash)',
  zsh: 'Add to ~/.zshrc, after compinit: source <(skillrail completion zsh)',
  fish: 'Save it as ~/.config/fish/completions/skillrail.fish',
} as const satisfies Record<Shell, string>

export const command = defineCommand<CompletionResult>()({
  helpsToRepair: true,
  arguments: {
    '<shell>': 'bash, zsh or fish',
    '[words...]': 'what was typed after skillrail; the script passes it',
  },
  options: {},
  details: Object.values(places).join('\n'),
  examples: ['completion bash'],
  async run(context, { arguments: [name = '', ...words] }) {
    const shell = shellNamed(name)
    if (words.length === 0) return { shell, script: scripts[shell] }
    return { shell, found: await candidates(context, words) }
  },
  render(result) {
    if ('script' in result) return result.script
    const { shell, found } = result
    return linesText(
      found.map(({ word, about }) => lineFor(shell, safeLine(word), cell(about, 60))),
    )
  },
  notes: (result) => ('script' in result ? [places[result.shell]] : []),
})

function shellNamed(name: string): Shell {
  if (name === 'bash' || name === 'zsh' || name === 'fish') return name
  throw wrongUse(`shell ${name} is invalid; allowed: bash, zsh, fish`)
}

function lineFor(shell: Shell, word: string, about: string): string {
  if (shell === 'bash') return word
  return shell === 'fish' ? `${word}\t${about}` : `${word.replaceAll(':', '\\:')}:${about}`
}

async function candidates(context: Context, words: readonly string[]): Promise<Candidate[]> {
  const prefix = words.at(-1) ?? ''
  const earlierWords = words.slice(0, -1)
  const suggestions = await allCandidates(context, earlierWords, prefix.startsWith('-'))
  return suggestions.filter(({ word }) => word.startsWith(prefix))
}

async function allCandidates(
  context: Context,
  earlierWords: readonly string[],
  wantsOption: boolean,
): Promise<Candidate[]> {
  const typedNames = earlierWords
    .filter((word, at) => !word.startsWith('-') && !valueOptions.has(earlierWords[at - 1] ?? ''))
    .map(inFull)
  const { names, options } = presentName(typedNames, earlierWords)
  const entry = findCommand(names, options)
  const next = wantsOption ? [] : nextWords(names)
  const globals = globalOptions.map(([flags, help]) => ({ flags, help }))
  if (!entry) return wantsOption ? flagsOf(globals) : next
  const command = await entry.load()
  const last = Object.values(command.options).find(
    ({ flags, kind }) =>
      kind !== 'flag' && kind !== 'switch' && namesOf(flags).includes(earlierWords.at(-1) ?? ''),
  )
  if (last?.kind === 'choice') return last.choices.map((word) => ({ word, about: last.help }))
  if (last) return await optionValues(context, last.flags)
  if (wantsOption) {
    return [...formsOf(entry), ...flagsOf([...Object.values(command.options), ...globals])]
  }
  const nameWords = entry.name.split(' ').filter((word) => !word.startsWith('-'))
  const argumentIndex = names.length - nameWords.length
  return [...next, ...(await argumentsAt(context, entry, command, argumentIndex))]
}

/** Completes former names of commands like their present ones. */
function presentName(names: readonly string[], options: readonly string[]) {
  const former = formerNameOf(names)
  if (former === undefined) return { names, options }
  const present = (formerNames[former] ?? '').split(' ').filter(Boolean)
  const rest = names.slice(former.split(' ').length)
  return {
    names: [...present.filter((word) => !word.startsWith('-')), ...rest],
    options: [...options, ...present],
  }
}

/** The options that make another command of it, such as `--activate` of `show`. */
function formsOf({ name }: CommandEntry): Candidate[] {
  return commandsBelow(name)
    .filter((command) => command.name.includes(' --'))
    .map((command) => ({ word: command.name.slice(name.length + 1), about: command.summary }))
}

function nextWords(names: readonly string[]): Candidate[] {
  const start = names.map((name) => `${name} `).join('')
  const matches = commands.filter(({ name }) => name.startsWith(start) && !name.includes(' --'))
  const words = new Map<string, string>()
  for (const { name, summary } of matches) {
    const [word = '', ...more] = name.slice(start.length).split(' ')
    const about = more.length === 0 ? summary : (groupSummaries[`${start}${word}`] ?? summary)
    if (!words.has(word)) words.set(word, about)
  }
  return [...words].map(([word, about]) => ({ word, about }))
}

function namesOf(flags: string): string[] {
  return flags.match(/--?[a-z][a-z-]*/gi) ?? []
}

function flagsOf(options: readonly { flags: string; help: string }[]): Candidate[] {
  return options.map(({ flags, help }) => ({
    word: namesOf(flags).at(-1) ?? '',
    about: help,
  }))
}

async function argumentsAt(
  context: Context,
  { name }: CommandEntry,
  { arguments: argumentHelp = {} }: AnyCommand,
  argumentIndex: number,
): Promise<Candidate[]> {
  const keys = Object.keys(argumentHelp)
  const last = keys.at(-1) ?? ''
  const key = keys[argumentIndex] ?? (last.includes('...') ? last : '')
  switch (key.replaceAll(/[^a-z]/g, '')) {
    case 'skill':
      return await skillNames(context)
    case 'tool':
      return (await toolIndex(context)).tools.map(({ id, description }) => {
        return { word: id, about: description }
      })
    case 'run': {
      const { openProject } = await import('#project/chains')
      const ids = openProject(context).store.ids()
      return ['latest', ...ids].map((word) => ({ word, about: 'run' }))
    }
    case 'client': {
      const { adapters } = await import('#hooks/adapters')
      return Object.entries(adapters).map(([word, { title }]) => ({ word, about: title }))
    }
    case 'word': {
      const { terminalWords } = await import('#rail/words')
      return Object.entries(terminalWords).map(([word, about]) => ({ word, about }))
    }
    case 'shell':
      return Object.keys(scripts).map((word) => ({ word, about: name }))
    default:
      return []
  }
}

/** The values of an option by the last word of its name: `server` for `--server` and `--mcp-server`. */
async function optionValues(context: Context, flags: string): Promise<Candidate[]> {
  const [, word = ''] = /-(\w+)$/.exec(namesOf(flags).at(-1) ?? '') ?? []
  switch (word) {
    case 'skill':
      return await skillNames(context)
    case 'tool':
      return (await toolIndex(context)).tools.map(({ id, description }) => {
        return { word: `mcp__${id}`, about: description }
      })
    case 'server':
      return (await toolIndex(context)).servers.map(({ name }) => ({ word: name, about: 'server' }))
    case 'category':
      return (await toolIndex(context)).categories.map(({ name, description }) => {
        return { word: name, about: description }
      })
    default:
      return []
  }
}

async function skillNames(context: Context): Promise<Candidate[]> {
  const { listSkills } = await import('#project/list-skills')
  const { skills } = await listSkills(context, { all: false })
  return skills.map(({ name: word, description }) => ({ word, about: description }))
}

/** The tools that are known without asking a server. */
async function toolIndex(context: Context): Promise<ToolIndex> {
  const { loadToolIndex } = await import('#tools/cache/tool-index')
  const { toolProject } = await import('#tools/project-tools')
  return loadToolIndex({ project: toolProject(context), runtime: context.runtime }).known
}
