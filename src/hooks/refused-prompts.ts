import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { clientFolder } from '#core/client-folders'
import type { Runtime } from '#core/runtime'
import { findWorkspace } from '#core/read-files'
import { adapters, type Platform } from './adapters.ts'

/**
 * Clients whose terminal refuses `/name` before any hook sees it, if they have no command of this name.
 * Seen with Claude Code 2.1 and Codex 0.169. Codex calls skills with `$name`.
 */
const refusing: Partial<Record<Platform, { areSkillsCommands: boolean }>> = {
  claude: { areSkillsCommands: true },
  codex: { areSkillsCommands: false },
}

export interface PromptRefusal {
  client: Platform
  /** After the slash. */
  name: string
  message: string
  hint: string
}

interface Names {
  /** Whether the client has a skill of this name. */
  hasSkill: (name: string) => boolean
  runtime: Pick<Runtime, 'cwd' | 'home' | 'env'>
}

/** Why a client passes a prompt to no hook; undefined if it passes it, or if nobody knows. */
export function promptRefusal(
  client: Platform,
  prompt: string,
  { hasSkill, runtime }: Names,
): PromptRefusal | undefined {
  const rules = refusing[client]
  // `/usr/bin is full` and `/a:b` (a command of a plugin) are not looked up.
  const name = /^\s*\/([a-z0-9][\w-]*)(?=\s|$)/i.exec(prompt)?.[1]
  if (!rules || name === undefined) return undefined
  const { title } = adapters[client]
  if (!rules.areSkillsCommands) {
    const message = `${title} refuses this prompt: \`/${name}\` is not one of its commands.`
    const hint = hasSkill(name)
      ? `Skills are called with \`$${name}\` there.`
      : 'Skills are called with `$name` there.'
    return { client, name, message, hint }
  }
  if (hasSkill(name) || claudeCommands(runtime).has(name)) return undefined
  const message = `${title} refuses this prompt: no skill is named ${name}.`
  return { client, name, message, hint: 'Install the skill, or name it as it is installed.' }
}

/** Custom commands: Markdown files in `.claude/commands`, of the user and up to the root of the project. */
function claudeCommands({ cwd, home, env }: Names['runtime']): ReadonlySet<string> {
  const root = findWorkspace(cwd, { home })
  const folders = [join(clientFolder('claude', { env, home }), 'commands')]
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(join(folder, '.claude', 'commands'))
    if (folder === root || folder === dirname(folder)) break
  }
  return new Set(folders.flatMap(commandNames))
}

function commandNames(folder: string): string[] {
  try {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files
      .filter((file) => file.endsWith('.md'))
      .map((file) => file.replace(/^.*[\\/]/, '').slice(0, -'.md'.length))
  } catch {
    return []
  }
}
