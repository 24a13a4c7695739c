import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadConfiguration, messageOf, userDirectories } from '../base/index.ts'
import { discoverOptionsFrom, discoverSkills } from '../library/index.ts'
import { findWorkspace, openTrustStore, readLock } from '../trust/index.ts'
import { amount } from './_cells.ts'
import { findProgram } from './_find-program.ts'
import type { CommandContext } from './command.ts'

/** One line of `doctor`. Only a `problem` keeps something from working. */
export interface Check {
  name: string
  status: 'ok' | 'information' | 'warning' | 'problem'
  found: string
  /** What to do about it, where there is something. */
  advice?: string | undefined
}

/** Command-line agents that skills are made for, by the name of their program. */
const agentPrograms: readonly { name: string; program: string }[] = [
  { name: 'Claude Code', program: 'claude' },
  { name: 'Codex', program: 'codex' },
  { name: 'Copilot CLI', program: 'copilot' },
  { name: 'Cursor', program: 'cursor-agent' },
  { name: 'Gemini CLI', program: 'gemini' },
  { name: 'OpenCode', program: 'opencode' },
  { name: 'pi', program: 'pi' },
  { name: 'Qwen Code', program: 'qwen' },
]

export function checkMachine({ runtime }: CommandContext): Check[] {
  const { sources, diagnostics } = loadConfiguration(runtime)
  const wrong = diagnostics.filter(({ severity }) => severity !== 'info')
  return [
    { name: 'node', status: 'ok', found: `${process.version} (${process.execPath})` },
    {
      name: 'configuration',
      status: wrong.length > 0 ? 'warning' : 'ok',
      found: sources.length > 0 ? sources.join(', ') : 'none: every setting has its default',
      advice: wrong.length > 0 ? `${amount(wrong.length, 'problem')}, printed above.` : undefined,
    },
    ...Object.entries(userDirectories(runtime)).map(([kind, path]) => checkWritable(kind, path)),
    checkGit(runtime),
  ]
}

export function checkLibrary({ runtime, settings }: CommandContext): Check[] {
  const discovery = discoverSkills(discoverOptionsFrom(runtime, settings))
  const { skills, shadowed, conflicts, broken, diagnostics } = discovery
  const unusable = [...broken, ...conflicts]
  const doubtful = skills.filter((info) => info.diagnostics.length > 0)
  const places = diagnostics.filter(({ path }) => broken.every((skill) => skill.path !== path))
  return [
    {
      name: 'skills',
      status: unusable.length > 0 ? 'warning' : 'ok',
      found:
        `${amount(skills.length, 'skill')} usable, ${unusable.length} not, ` +
        `${shadowed.length} shadowed`,
      advice: skillAdvice(
        skills.length,
        unusable.map(({ path }) => dirname(path)),
      ),
    },
    ...(doubtful.length === 0
      ? []
      : [
          {
            name: 'skill findings',
            status: 'information' as const,
            found: `${amount(doubtful.length, 'skill')} with warnings`,
            advice: 'skillrail list --verbose shows them.',
          },
        ]),
    ...places.map(({ path, message, hint, severity }) => ({
      name: 'place',
      status: severity === 'error' ? ('warning' as const) : ('information' as const),
      found: `${path}: ${message}`,
      advice: hint,
    })),
  ]
}

/** Nothing where the project has no lock. Only read: comparing would hash every skill. */
export function checkSkillLock({ runtime }: CommandContext): Check[] {
  const lock = readLock(findWorkspace(runtime.cwd, runtime))
  if (lock.state === 'none') return []
  const advice = 'skillrail trust --lock --check compares the skills with it.'
  if (lock.state === 'read') {
    const found = `${lock.path} holds ${amount(lock.skills.size, 'skill')}`
    return [{ name: 'skill lock', status: 'ok', found, advice }]
  }
  return lock.diagnostics.map(({ path, line, message, hint }) => ({
    name: 'skill lock',
    status: 'problem',
    found: `${[path, line].filter((part) => part !== undefined).join(':')}: ${message}`,
    advice: hint,
  }))
}

export function checkTrust({ runtime, settings, options }: CommandContext): Check[] {
  const workspace = findWorkspace(runtime.cwd, runtime)
  if (options.trustWorkspace || settings.workspaceTrust === 'trusted') {
    const found = `${workspace} is trusted for this command`
    return [{ name: 'workspace', status: 'ok', found }]
  }
  const { acceptances, diagnostics } = openTrustStore(runtime).read()
  const accepted = acceptances.find((acceptance) => acceptance.workspace === workspace)
  const problems = diagnostics.map(({ path, message, hint }) => ({
    name: 'trust record',
    status: 'problem' as const,
    found: `${path}: ${message}`,
    advice: hint,
  }))
  return [
    ...problems,
    accepted === undefined
      ? {
          name: 'workspace',
          status: 'information',
          found: `${workspace} is not trusted: its skills cannot act`,
          advice: 'skillrail trust shows what they could do, and allows it.',
        }
      : {
          name: 'workspace',
          status: 'ok',
          found: `${workspace} is trusted since ${accepted.acceptedAt.slice(0, 10)}`,
        },
  ]
}

/** Which agents could use the skills; none is needed. */
export function checkAgents({ runtime }: CommandContext): Check[] {
  return agentPrograms.map(({ name, program }) => ({
    name,
    status: 'information',
    found: findProgram(program, runtime) ?? `${program} is not installed`,
  }))
}

function skillAdvice(usable: number, unusable: readonly string[]): string | undefined {
  if (unusable.length > 0) return `skillrail validate ${unusable.slice(0, 3).join(' ')}`
  return usable === 0 ? 'skillrail new NAME makes a skill.' : undefined
}

function checkWritable(kind: string, path: string): Check {
  const name = `${kind} directory`
  const reason = whyNotWritable(existingParent(path))
  if (reason === undefined) return { name, status: 'ok', found: path }
  return {
    name,
    status: kind === 'cache' ? 'warning' : 'problem',
    found: `${path} cannot be written: ${reason}`,
    advice: `Give yourself the right to write there, or set XDG_${kind.toUpperCase()}_HOME.`,
  }
}

function whyNotWritable(directory: string): string | undefined {
  try {
    if (!statSync(directory).isDirectory()) return `${directory} is no directory`
    accessSync(directory, constants.W_OK)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** The nearest directory that exists: what is missing below it is made when it is needed. */
function existingParent(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existingParent(dirname(path))
}

function checkGit(runtime: CommandContext['runtime']): Check {
  const path = findProgram('git', runtime)
  if (path !== undefined) return { name: 'git', status: 'ok', found: path }
  const found = 'git is not installed; only skills that use it need it'
  return { name: 'git', status: 'information', found }
}
